# SPDX-License-Identifier: Apache-2.0
"""The list of commands, and their options, come from a table.

No command is imported for it. The help of a command imports no agent.
"""

import importlib.metadata
import json
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
# A process has the program's own modules, and makes one for each command: the
# modules that all have are imported once.
RUN = """
import json, os, sys, tempfile
from compute_agent.cmd.app import main

found = []
for words in json.load(sys.stdin):
    with tempfile.TemporaryFile('w+') as answer:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            code = main.main(words)
            json.dump([code, sorted(sys.modules)], answer)
            answer.flush()
            os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        found.append(json.load(answer))
json.dump(found, sys.stdout)
"""


def imported(all_words):
    """Return the modules that the program imports, for each list of words."""
    done = subprocess.run(
        [sys.executable, '-c', RUN],
        input=json.dumps(all_words),
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    assert {code for code, _ in found} <= {0, 1}, done.stderr
    return [set(modules) for _, modules in found]


@pytest.fixture(scope='module')
def helped():
    """Command → the modules that its help imports."""
    names = sorted(POINTS)
    found = imported([[*name.split(), '--help'] for name in names])
    return dict(zip(names, found, strict=True))


def test_the_table_has_what_the_commands_have():
    assert commands.TABLE.read_text() == command_table.written()


@pytest.mark.parametrize(
    'words',
    [('--help',), ('help',), ('--version',), ('plam',), ('complete',)],
)
def test_a_list_of_commands_imports_no_command(words):
    modules = {
        name
        for name in imported([words])[0]
        if name.startswith(OURS) and not name.startswith(f'{OURS}app')
    }
    assert modules == set()


@pytest.mark.parametrize('name', LIGHT)
def test_a_light_command_imports_no_heavy_library(helped, name):
    assert helped[name].isdisjoint(HEAVY)


@pytest.mark.parametrize('name', sorted(POINTS))
def test_the_help_of_a_command_imports_no_agent(helped, name):
    assert helped[name].isdisjoint(AGENT)


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
