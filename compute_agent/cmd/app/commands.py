# SPDX-License-Identifier: Apache-2.0
"""Finds the commands by name, and imports none but the one that runs.

Entry points give the names and classes. ``--help`` also prints a summary of
each command, and ``complete`` the options of each: ``commands.json`` has them,
so that no command module is imported. ``make surface`` writes that file, and a
test compares it with the commands. Because of this, a command module imports at
its top everything that it needs.
"""

import argparse
import importlib.metadata
import json
import pathlib
import typing
from collections.abc import Iterator, Mapping

from cliff import command, commandmanager, complete
from cliff import help as cliff_help

NAMESPACE = 'compute_agent.commands'

# cliff 4.9 has no name for it.
Entry: typing.TypeAlias = (
    commandmanager.EntryPointWrapper | importlib.metadata.EntryPoint
)

TABLE = pathlib.Path(__file__).with_name('commands.json')


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

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        """Yield each command for a list: its name and a class with a summary.

        ``find_command`` returns the class that runs.
        """
        known = table()
        for name, point in self.commands.items():
            yield name, _listed(name, point, known.get(name))


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
    """print bash completion command"""  # noqa: D400

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the completions."""
        self._table = table()
        code: int = super().take_action(parsed_args)
        return code

    def get_actions(self, command: list[str]) -> list[argparse.Action]:
        """Return the options of a command, without its module if possible."""
        row = self._table.get(' '.join(command))
        if row is None:
            actions: list[argparse.Action] = super().get_actions(command)
            return actions
        options = row['options'].split()
        return [argparse.Action(option_strings=options, dest='')]
