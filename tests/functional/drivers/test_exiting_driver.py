# SPDX-License-Identifier: Apache-2.0
"""``sys.exit`` in a driver is an error of the driver, wherever it is.

The commands run in processes of their own, beside an installed package.
"""

import os
import subprocess
import sys

import command_line
import pytest

pytestmark = pytest.mark.long

DRIVER = """
import os
import sys

from compute_agent.virt import driver

WHERE = os.environ['EXITS_IN']


def leave(where):
    if where == WHERE:
        sys.exit(eval(os.environ.get('EXITS_WITH', '0')))


leave('import')


class Quitter(driver.ComputeDriver):
    @classmethod
    def register_opts(cls, conf):
        leave('register_opts')

    @classmethod
    def from_conf(cls, conf):
        leave('from_conf')
        return cls()

    @property
    def authority(self):
        leave('authority')
        return ()

    def subscribe(self, wake):
        leave('subscribe')

    def close(self):
        leave('close')

    def get_available_nodes(self):
        leave('get_available_nodes')
        return ['cn1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        leave('update_provider_tree')
        tree.declare_inventory(nodename, {'VCPU': {'total': 4}})
"""


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """An installed package with the driver."""
    info = tmp_path / 'site' / 'quitters-1.0.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text('Name: quitters\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        '[compute_agent.drivers]\nquitter = quitters:Quitter\n'
    )
    (tmp_path / 'site' / 'quitters.py').write_text(DRIVER)
    monkeypatch.setenv('PYTHONPATH', str(tmp_path / 'site'))


def run(cli, *words, where, code='0'):
    cli.configure(compute_driver='quitter')
    return subprocess.run(
        [
            *(sys.executable, '-m', 'compute_agent.cmd.app.start'),
            *('--config-file', str(cli.config), *words),
        ],
        env={**os.environ, 'EXITS_IN': where, 'EXITS_WITH': code},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ('where', 'code', 'said'),
    [
        ('import', '0', 'driver quitter'),
        ('from_conf', "'no rack'", 'SystemExit: no rack'),
        ('get_available_nodes', '0', 'Quitter cannot list its nodes'),
        ('update_provider_tree', '2', 'Quitter failed for cn1'),
        ('close', '0', 'Quitter failed'),
    ],
)
def test_a_command_ends_with_a_line_about_the_driver(cli, where, code, said):
    done = run(cli, 'sync', where=where, code=code)
    assert done.returncode == 1, done
    told = [x for x in (done.stdout + done.stderr).splitlines() if said in x]
    assert len(told) == 1, done
    assert 'Traceback' not in done.stderr
    assert where in told[0]


def test_the_check_of_a_driver_fails(cli):
    where = 'get_available_nodes'
    done = run(cli, 'driver', 'check', 'quitter', where=where)
    assert done.returncode == 1, done
    assert 'SystemExit: 0' in done.stdout + done.stderr


def test_the_daemon_lives_on(cli, daemon, monkeypatch):
    monkeypatch.setenv('EXITS_IN', 'update_provider_tree')
    cli.configure(compute_driver='quitter', update_resources_interval=3600)
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for('1 failed')
    assert 'Quitter failed for cn1' in one.said
    assert one.end() == 0
    assert one.said.rstrip().endswith(' s: SIGTERM requested it')


def test_the_daemon_does_not_start_with_success(cli):
    done = run(cli, 'run', where='subscribe')
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.startswith(
        'compute-agent: Quitter failed: SystemExit: 0 in subscribe ('
    )
