# SPDX-License-Identifier: Apache-2.0
"""The wheel on a clean Debian, with its Python: doctor, one cycle, stop."""

import os
import pathlib
import shutil

import pytest
from debian_machine import wait_for

CONF = """[DEFAULT]
compute_driver = host
host = wheel
state_path = /var/lib/wheel
[placement]
auth_type = admin_token
endpoint = {url}
token = admin
"""
AGENT = '/opt/wheel/bin/compute-agent --config-file /root/wheel.conf'
CERTIFICATES = pathlib.Path('/etc/ssl/certs/ca-certificates.crt')
# What tells pip of an index, as where this test runs.
INDEX = ('PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'https_proxy', 'http_proxy')


@pytest.fixture(scope='module')
def agent(machine, wheel, placement):
    """The machine, with the wheel in an environment and a configuration."""
    placement.clear()  # the package reported the same host
    machine.run('apt-get update && apt-get install --yes python3-venv')
    shutil.copy(wheel, machine.path('/root'))
    shutil.copy(CERTIFICATES, machine.path('/root/certificates.crt'))
    index = [f'{n}={os.environ[n]!r}' for n in INDEX if n in os.environ]
    machine.run('python3 -m venv /opt/wheel')
    machine.run(
        f'env PIP_CERT=/root/certificates.crt {" ".join(index)} '
        f"/opt/wheel/bin/pip install --quiet '/root/{wheel.name}[host]'"
    )
    machine.path('/root/wheel.conf').write_text(CONF.format(url=placement.url))
    machine.run('mkdir -p /var/lib/wheel')
    return machine


def test_its_packages_fit_together(agent):
    assert agent.run('/opt/wheel/bin/pip check') == (
        'No broken requirements found.'
    )


def test_the_doctor_finds_nothing_that_fails(agent):
    assert 'failed' not in agent.run(f'{AGENT} doctor').split()


def test_one_cycle_reports_the_host(agent, placement):
    assert agent.attempt(f'{AGENT} plan').returncode == 2
    agent.run(f'{AGENT} sync')
    (name,) = placement.providers()
    assert name in agent.run(f'{AGENT} tree show')
    assert agent.attempt(f'{AGENT} plan').returncode == 0


def test_the_daemon_runs_and_stops(agent):
    agent.run(f'systemd-run --unit wheel -p Type=notify {AGENT} run')
    status = 'systemctl show wheel -P '
    wait_for(lambda: 'done' in agent.run(f'{status} StatusText'))
    agent.run('systemctl kill --signal TERM wheel')
    wait_for(lambda: agent.run(f'{status} ActiveState') == 'inactive')
    log = agent.run('journalctl --unit wheel --output cat')
    assert 'Traceback' not in log
