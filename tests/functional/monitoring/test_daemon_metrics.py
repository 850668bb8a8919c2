# SPDX-License-Identifier: Apache-2.0
"""The daemon with its metrics: a real process, a real socket, a real file."""

import json
import re
import threading
import urllib.request

import command_line
import monitored
import pytest

pytestmark = pytest.mark.long

PATIENCE = command_line.PATIENCE


def get(url):
    """Return the body of an answer 200."""
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read().decode()


def test_the_daemon_answers_and_writes_its_file(
    cli, daemon, tmp_path, monkeypatch
):
    monkeypatch.setenv('WATCHDOG_USEC', '3600000000')  # as systemd gives it
    file = tmp_path / 'compute-agent.prom'
    cli.configure(
        agent={
            'metrics_bind': '127.0.0.1:0',
            'metrics_textfile': file,
            'metrics_nodes': 5,
        },
        update_resources_interval=3600,
    )
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    where = re.search(r'metrics and health at (\S+)', one.said)[1]
    assert json.loads(get(f'http://{where}/healthz'))['status'] == 'ok'
    get(f'http://{where}/readyz')
    seen = monitored.samples(get(f'http://{where}/metrics'))
    assert seen['compute_agent_nodes{state="done"}'] == 1
    assert seen['compute_agent_node_state{node="cn1",state="done"}'] == 1
    assert seen['compute_agent_cycle_limit_seconds'] == 3600
    put = (
        'compute_agent_requests_total{code="200",method="PUT",route='
        '"/resource_providers/{uuid}/traits",service="placement"}'
    )
    assert seen[put] == 1
    until = threading.Event()
    # A thread of its own writes it: at the start, and at the end of a cycle.
    while not file.exists() or put not in monitored.samples(file.read_text()):
        assert one.process.poll() is None, one.said
        until.wait(0.05)
    assert monitored.samples(file.read_text())[put] == 1
    assert one.end() == 0, one.said
    assert 'stopping in the middle' not in one.said


def test_an_address_that_is_taken_ends_the_start_with_one_line(
    cli, hanging_port
):
    cli.configure(agent={'metrics_bind': f'127.0.0.1:{hanging_port.number}'})
    result = cli.run('run')
    assert result.code == 1
    last = result.err.splitlines()[-1]
    assert last.startswith('compute-agent: [compute_agent] metrics_bind: ')
    assert 'another process listens there' in last


@pytest.mark.parametrize('where', ['0.0.0.0:0'])
def test_an_open_address_is_warned_of(cli, daemon, where):
    cli.configure(
        agent={'metrics_bind': where}, update_resources_interval=3600
    )
    one = daemon(cli.config)
    one.wait_for('other hosts can read the metrics at')
    assert one.end() == 0, one.said
