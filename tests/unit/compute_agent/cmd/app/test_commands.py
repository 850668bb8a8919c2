# SPDX-License-Identifier: Apache-2.0
"""The list of commands, and their options, come from a table.

No command is imported for it. The help of a command imports no agent.
"""

import importlib.metadata
import subprocess
import sys

import command_table
import pytest

from compute_agent.cmd.app import commands, main

POINTS = {
    point.name.replace('_', ' '): point
    for point in importlib.metadata.entry_points(group=commands.NAMESPACE)
}
OURS = 'compute_agent.cmd.'
# They answer while a cycle hangs, and read files only: each start is quick.
LIGHT = (
    'approve',
    'driver list',
    'driver new',
    'facts',
    'history',
    'rules test',
    'state show',
    'status',
)
# The agent with its cycle, and what draws on a terminal.
AGENT = (
    'compute_agent.cmd.wiring.building',
    'compute_agent.cycle.resource_tracker',
    'report_client.client',
    'rich',
)
# The libraries of requests, and long tables.
HEAVY = (
    *AGENT,
    'keystoneauth1',
    'requests',
    'report_client.http.placement',
    'os_traits',
)
RUN = """
import sys
from compute_agent.cmd.app import main
code = main.main({words!r})
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""


def imported(*words):
    """Return the modules that the program imports for these words."""
    done = subprocess.run(
        [sys.executable, '-c', RUN.format(words=list(words))],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode in {0, 1}, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_the_table_has_what_the_commands_have():
    assert commands.TABLE.read_text() == command_table.written()


@pytest.mark.parametrize(
    'words',
    [('--help',), ('help',), ('--version',), ('plam',), ('complete',)],
)
def test_a_list_of_commands_imports_no_command(words):
    modules = {
        name
        for name in imported(*words)
        if name.startswith(OURS) and not name.startswith(f'{OURS}app')
    }
    assert modules == set()


@pytest.mark.parametrize('name', LIGHT)
def test_a_light_command_imports_no_heavy_library(name):
    assert imported(*name.split(), '--help').isdisjoint(HEAVY)


@pytest.mark.parametrize('name', sorted(POINTS))
def test_the_help_of_a_command_imports_no_agent(name):
    assert imported(*name.split(), '--help').isdisjoint(AGENT)


def test_a_command_of_another_distribution_is_listed(monkeypatch, capsys):
    point = importlib.metadata.EntryPoint(
        'rack_list', f'{__name__}:RackList', commands.NAMESPACE
    )
    points = importlib.metadata.entry_points
    monkeypatch.setattr(
        importlib.metadata,
        'entry_points',
        lambda **which: (
            [*points(**which), point]
            if which == {'group': commands.NAMESPACE}
            else points(**which)
        ),
    )
    assert main.main(['--help']) == 0
    assert '  rack list      List racks' in capsys.readouterr().out
    assert main.main(['rack', 'list']) == 3


class RackList(commands.command.Command):
    """List racks."""

    def take_action(self, _parsed_args):
        return 3
