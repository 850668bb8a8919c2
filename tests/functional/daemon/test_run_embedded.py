# SPDX-License-Identifier: Apache-2.0
"""run with an embedded placement: this host in a placement of its own."""

import re
import signal

import command_line
import pytest
import requests

pytestmark = pytest.mark.long


@pytest.fixture
def config(tmp_path, unused_port):
    """What etc/dev.conf has, on a port and in a folder of the test's own."""
    path = tmp_path / 'dev.conf'
    path.write_text(
        '[DEFAULT]\n'
        'compute_driver = libvirt\n'
        'update_resources_interval = 3600\n'
        f'state_path = {tmp_path}/state\n'
        '[placement]\n'
        'embedded = true\n'
        f'embedded_port = {unused_port}\n'
    )
    return path


def test_it_serves_syncs_shows_and_ends_and_does_it_again(
    config, daemon, unused_port
):
    for operations in (3, 0):
        one = daemon(config, '--show-tree', program=command_line.PATIENT)
        one.wait_for('in step with the embedded placement at')
        shown = one.said
        assert re.search(r'VCPU: \d+, ratio 4', shown)
        assert 'HW_ARCH_' in shown
        assert 'periodic_fuzzy_delay' not in shown  # nobody else comes here
        assert f'; {operations} operations' in shown
        url = f'http://127.0.0.1:{unused_port}'
        assert url in shown
        answer = requests.get(
            f'{url}/resource_providers',
            headers={'X-Auth-Token': 'admin'},
            timeout=command_line.PATIENCE,
        )
        assert len(answer.json()['resource_providers']) == 1
        assert one.end(signal.SIGINT) == 0, one.said
        assert 'stopping in the middle of a cycle' not in one.said


def test_a_port_that_is_taken_is_said(config, daemon, hanging_port):
    config.write_text(
        re.sub(
            r'embedded_port = \d+',
            f'embedded_port = {hanging_port.number}',
            config.read_text(),
        )
    )
    one = daemon(config)
    assert one.process.wait(command_line.PATIENCE) == 1
    assert 'embedded_port' in one.said
    assert 'Traceback' not in one.said


def test_it_uses_the_placement_that_is_served_already(
    config, daemon, unused_port
):
    server = daemon(config, 'serve', command='placement')
    server.wait_for('placement listens on')
    one = daemon(config, '--show-tree', program=command_line.PATIENT)
    one.wait_for('in step with the embedded placement at')
    assert f':{unused_port} runs already, and is used' in one.said
    assert one.end(signal.SIGINT) == 0, one.said
    assert server.end(signal.SIGINT) == 0, server.said
