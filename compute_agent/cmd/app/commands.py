# SPDX-License-Identifier: Apache-2.0
"""Finds the commands by name, and imports none but the one that runs.

Entry points give the names and classes. ``--help`` also prints a summary of
each command, and ``complete`` the options of each: ``commands.json`` has them,
so that no command module is imported. ``make surface`` writes that file, and a
test compares it with the commands. Because of this, a command module imports at
its top everything that it needs.
"""

import argparse
import difflib
import importlib.metadata
import json
import pathlib
import typing
from collections.abc import Iterator, Mapping

from cliff import command, commandmanager, complete
from cliff import help as cliff_help

from . import completions

NAMESPACE = 'compute_agent.commands'

# cliff 4.9 has no name for it.
Entry: typing.TypeAlias = (
    commandmanager.EntryPointWrapper | importlib.metadata.EntryPoint
)

TABLE = pathlib.Path(__file__).with_name('commands.json')

#: The word that people type before the commands of OpenStack's client.
OPENSTACK = 'openstack'

#: The first words of commands that others have, or that were here → ours.
MEANT = {
    'agent list': 'status',
    'aggregate add host': 'resource provider aggregate add',
    'aggregate list': 'resource provider aggregate list',
    'aggregate remove host': 'resource provider aggregate remove',
    'aggregate show': 'resource provider list --member-of UUID',
    'allocation list': 'resource provider show --allocations',
    'allocation candidates': 'allocation candidate list',
    'baremetal allocation': 'allocation candidate list',
    'baremetal node list': 'status',
    'baremetal node show': 'resource provider show',
    'baremetal node add trait': 'resource provider trait add',
    'baremetal node remove trait': 'resource provider trait remove',
    'baremetal node trait list': 'resource provider trait list',
    'candidates': 'allocation candidate list',
    'compute agent': 'status',
    'compute service list': 'status',
    'heal_allocations': 'audit --allocations',
    'host list': 'resource provider list',
    'host show': 'resource provider show',
    'hypervisor list': 'resource provider list',
    'hypervisor show': 'resource provider show',
    'hypervisor stats': 'resource provider usage show',
    'inventory': 'resource provider inventory',
    'network agent list': 'status',
    'network agent show': 'resource provider show',
    'placement audit': 'audit',
    'placement heal_allocations': 'audit --allocations',
    'placement sync_aggregates': 'resource provider aggregate set',
    'provider': 'resource provider',
    'provider inventory remove': 'resource provider inventory delete',
    'provider trait clear': 'resource provider trait delete',
    'providers': 'resource provider list',
    'resource class add': 'resource class create',
    'resource class remove': 'resource class delete',
    'resource provider allocation list': (
        'resource provider show --allocations'
    ),
    'resource provider inventory remove': 'resource provider inventory delete',
    'resource provider trait clear': 'resource provider trait delete',
    'resource provider update': 'resource provider set',
    'resource-class': 'resource class',
    'resource-provider': 'resource provider',
    'resource-provider set inventory': 'resource provider inventory set',
    'trait add': 'trait create',
    'trait remove': 'trait delete',
    'usage list': 'resource usage show',
    'usage show': 'resource usage show',
}


def table() -> Mapping[str, Mapping[str, str]]:
    """Return the summary and the options of each command, by its name."""
    found: Mapping[str, Mapping[str, str]] = json.loads(TABLE.read_text())
    return found


class Commands(commandmanager.CommandManager):
    """The commands of the program, by name."""

    def __init__(self) -> None:
        super().__init__(NAMESPACE)

    def load_commands(self, namespace: str) -> None:
        """Find the commands of a group of entry points, and import none."""
        self.group_list.append(namespace)
        for point in importlib.metadata.entry_points(group=namespace):
            self.commands[point.name.replace('_', ' ')] = point

    def advice(self, words: str) -> str:
        """Return what to type in the place of words that are no command, or ''.

        Words of nova, neutron, Ironic and ``nova-manage``, and those that a
        command had before, are translated. What follows them is kept.
        """
        meant = _meant(words)
        try:
            self.find_command(meant.split())
        except ValueError:
            near = self._near(meant)
        else:
            near = [meant]
        return f'did you mean {" or ".join(near)}? ' if near else ''

    def _near(self, words: str) -> list[str]:
        """Return commands that begin with these words, or are like them."""
        count = len(words.split())
        longer = [
            name for name in self.commands if name.startswith(f'{words} ')
        ]
        if longer:
            nexts = sorted({name.split()[count] for name in longer})
            return [f'{words} {"|".join(nexts)}']
        begun = {
            ' '.join(name.split()[:count])
            for name in self.commands
            if words and name.startswith(words)
        }
        return sorted(begun) or difflib.get_close_matches(words, self.commands)

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        """Yield each command for a list: its name and a class with a summary.

        ``find_command`` returns the class that runs.
        """
        known = table()
        for name, point in self.commands.items():
            yield name, _listed(name, point, known.get(name))


def _meant(words: str) -> str:
    """Return the words with those of others in front replaced by ours."""
    typed = words.split()
    for length in range(len(typed), 0, -1):
        ours = MEANT.get(' '.join(typed[:length]))
        if ours is not None:
            return ' '.join([ours, *typed[length:]])
    return words


def _listed(name: str, point: Entry, row: Mapping[str, str] | None) -> Entry:
    """Return a stand-in for a command that is in the table, else the command.

    A command of cliff, or of another distribution, need not be in the table.
    """
    if row is None:
        return point
    listed = type('Listed', (_Listed,), {'_description': row['summary']})
    return commandmanager.EntryPointWrapper(name, listed)


class _Listed(command.Command):
    """A command in the list of commands; it has a summary only."""

    def take_action(self, parsed_args: typing.Any) -> None:
        """Fail: the manager returns no such class to run."""
        raise NotImplementedError


class _Cliffs(command.Command):
    """A command of cliff's."""

    def get_epilog(self) -> str:
        """Return the text that cliff finds by looking at each distribution.

        The search takes as long as all else that prints the help of a command.
        """
        return 'This command is provided by the cliff plugin.'


class Help(_Cliffs, cliff_help.HelpCommand):
    """print detailed help for another command"""  # noqa: D400


class Complete(_Cliffs, complete.CompleteCommand):
    """print a script that completes commands in a shell"""  # noqa: D400

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return a parser with the shells."""
        parser = command.Command.get_parser(self, prog_name)
        parser.add_argument(
            '--shell',
            choices=sorted(completions.SHELLS),
            default='bash',
            help='The shell that reads the script; "none" prints the words '
            'alone. By default bash.',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the script."""
        app, known = self.app, table()
        options = {
            name: known[name]['options'] if name in known else ''
            for name, _ in app.command_manager
        }
        app.stdout.write(
            completions.script(parsed_args.shell, app.NAME or '', options)
        )
        return 0
