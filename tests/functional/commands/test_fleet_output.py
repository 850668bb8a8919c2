# SPDX-License-Identifier: Apache-2.0
"""A fleet of nodes with one trouble is a few lines, wherever it is told.

A dozen nodes are more than any list shows one by one, so they are a fleet.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from concurrent import futures

import command_line
import fleet_members
import pytest
import yaml

pytestmark = pytest.mark.long

COUNT = int(os.environ.get('COMPUTE_AGENT_FLEET_NODES', '12'))
MOST = 5  # lines, however many nodes there are


def uuid(number):
    return f'{number:08}-1111-4111-8111-111111111111'


def describe(cli, count):
    """Have the driver describe so many nodes, and one that is always well."""
    nodes = [
        {
            'name': f'cn{n}',
            'uuid': uuid(n),
            'inventories': {'VCPU': 8 + n % 7},
            'traits': ['CUSTOM_GOLD'],
        }
        for n in range(count)
    ]
    well = {'name': 'well', 'uuid': uuid(9999), 'inventories': {'VCPU': 1}}
    cli.fake_file.write_text(yaml.safe_dump({'nodes': [*nodes, well]}))


def names_taken(cli):
    """Each name is another provider's."""
    for n in range(COUNT):
        body = {'name': f'cn{n}', 'uuid': uuid(50_000 + n)}
        cli.placement('/resource_providers', 'POST', body)
    describe(cli, COUNT)
    cli.run('sync')


def contended(cli):
    """Another writer takes the traits away after each write."""
    describe(cli, COUNT)
    cli.run('sync')
    for _ in range(4):
        for n in range(COUNT):
            path = f'/resource_providers/{uuid(n)}/traits'
            cli.placement(path, 'DELETE')
        cli.run('sync')


def departures(cli):
    """All of them leave at once, and wait for a person, reserved."""
    describe(cli, COUNT)
    cli.run('sync')
    describe(cli, 0)
    cli.run('sync')


def cycles(one):
    """The lines of each cycle that a person asked for, once all have ended."""
    one.wait_for(' cycle: ', one.said.count('asks for a cycle') + 1)
    found = []
    for line in one.said.splitlines():
        if 'asks for a cycle' in line:
            found.append([])
        elif found:
            found[-1].append(line)
    return found


@pytest.mark.parametrize(
    ('happens', 'words'),
    [
        (names_taken, 'belongs to provider'),
        (contended, 'are contended'),
        (departures, 'departed together'),
    ],
)
def test_a_fleet_in_one_trouble_is_few_lines(cli, daemon, happens, words):
    cli.configure(host=None, update_resources_interval=3600)
    describe(cli, 0)
    one = daemon(cli.config)
    one.wait_for(' cycle: ')
    happens(cli)
    *_, last = cycles(one)
    assert len(last) <= MOST, one.said
    (trouble,) = [line for line in last if 'WARNING' in line]
    assert f' {COUNT} nodes (cn' in trouble
    assert f'and {COUNT - 3} more): ' in trouble
    assert words in trouble

    for command in ('status', 'sync'):
        shown = cli.run(command).out
        lines = shown.splitlines()
        assert len(lines) <= MOST, shown
        assert [words in line for line in lines].count(True) == 1
        assert f'and {COUNT - 3} more' in shown
        assert f'cn1 ({uuid(1)})' in shown
    assert '-f json has each node' in shown
    found = json.loads(cli.run('sync', '-f', 'json').out)
    assert sum(bool(each['reason']) for each in found) == COUNT
    assert one.end() == 0


def test_a_first_sync_of_a_fleet_logs_two_nodes_and_counts_the_others(
    cli, daemon
):
    cli.configure(host=None, update_resources_interval=3600)
    describe(cli, 0)
    one = daemon(cli.config)
    one.wait_for(' cycle: ')
    describe(cli, COUNT)
    shown = cli.run('sync').out.splitlines()
    ((*lines, last),) = cycles(one)
    assert 'cycle: 13 done' in last
    created = [line for line in lines if ' create provider ' in line]
    assert len(created) == 2, one.said
    assert f'{COUNT - 2} nodes more had such lines in this cycle' in one.said
    assert shown[-1] == (
        f'{COUNT + 1} nodes: {COUNT + 1} done; {COUNT * 3 + 1} operations '
        f'(create provider {COUNT}, create trait 1, set inventories {COUNT}, '
        f'set traits {COUNT}); -f json has each node'
    )
    assert one.end() == 0


def test_status_and_sync_tell_how_far_a_running_cycle_is(cli, daemon):
    """A slow one: the agent sends a few requests a second."""
    cli.configure(
        host=None,
        agent={'max_requests_per_second': 8},
        # No cycle but that of the sync.
        periodic_fuzzy_delay=86400,
        update_resources_interval=86400,
    )
    describe(cli, COUNT)
    one = daemon(cli.config)
    one.wait_for('the first cycle begins in')
    found, lines = {}, []

    def is_under_way():
        shown = cli.run('status', '-f', 'json')
        if shown.code == 0:
            found.update(shown.data['progress'] or {})
        lines.extend(cli.run('status').out.splitlines())
        return found.get('remaining') and any(
            f' of {COUNT + 1} nodes, ' in line for line in lines
        )

    with futures.ThreadPoolExecutor(1) as beside:
        synced = beside.submit(sync_on_a_terminal, cli)
        fleet_members.wait_until(is_under_way)
        code, seen = synced.result()
    assert found['nodes'] == COUNT + 1
    assert 0 < found['done'] <= found['nodes']
    assert found['writes'] >= found['done']
    assert found['rate'] > 0
    assert code == 0
    assert re.search(f'nodes .* ([1-9]|1[0-2])/{COUNT + 1}.* write', seen)
    assert one.end() == 0


def sync_on_a_terminal(cli):
    """Return the exit code of a sync, and what its small terminal shows."""
    reading, writing = command_line.pseudo_terminal()
    words = ('-m', 'compute_agent.cmd.app.main', '--config-file', cli.config)
    with subprocess.Popen(
        [sys.executable, *words, 'sync'],
        stdout=subprocess.DEVNULL,
        stderr=writing,
        env={**os.environ, 'LINES': '4', 'COLUMNS': '80', 'TERM': 'xterm'},
    ) as running:
        os.close(writing)
        seen = b''
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(reading, 65536):
                seen += part
        os.close(reading)
    return running.returncode, re.sub(r'\x1b\[[\d;?]*\w', '', seen.decode())
