# SPDX-License-Identifier: Apache-2.0
"""Finds the commands by name, and imports none but the one that runs.

Entry points give the names and classes. The list of commands that ``--help``
prints needs a summary of each, too: the table below has them, so that no
command module is imported. A test compares it with the docstrings. Because of
this, a command module imports at its top everything that it needs.
"""

import importlib.metadata
import typing
from collections.abc import Iterator

from cliff import command, commandmanager
from cliff import help as cliff_help

NAMESPACE = 'compute_agent.commands'

# cliff 4.9 has no name for it.
Entry: typing.TypeAlias = (
    commandmanager.EntryPointWrapper | importlib.metadata.EntryPoint
)

#: The first line of each command's docstring, without the full stop.
SUMMARIES = {
    'approve': (
        'Show the changes that the daemon holds back, and let it make them'
    ),
    'audit': 'Find providers, allocations and names that belong to nobody',
    'candidates': 'List the allocation candidates for a flavor',
    'doctor': 'Check whether an agent can do its work here',
    'drift': 'Compare placement with what the agent last wrote or found there',
    'driver check': (
        'Check an installed driver against each rule of the contract'
    ),
    'driver list': 'List the installed drivers, without importing any',
    'driver new': (
        'Write a small package with a driver, as a start for your own'
    ),
    'explain': 'Explain a trait: which provider has it, who added it, and why',
    'facts': 'List the facts of the host: names, values and their sources',
    'help': 'print detailed help for another command (cliff)',
    'history': (
        "List what changed: when, by whom, why, and the request's result"
    ),
    'leave': 'Take off nodes everything that this agent added, children first',
    'node stage': (
        'Tell a node which traits and capabilities a request asks for'
    ),
    'node unstage': (
        'Take back from a node exactly what "node stage" put there'
    ),
    'placement serve': (
        'Serve the embedded placement on 127.0.0.1 until it is stopped'
    ),
    'plan': 'Print what sync would write to placement, and write nothing',
    'probe': (
        'Show what the driver finds on each node, and the traits it derives'
    ),
    'provider adopt': (
        'Make this agent the owner of a provider that another writer created'
    ),
    'provider aggregate add': (
        'Add a provider to aggregates; it stays in its other aggregates'
    ),
    'provider aggregate list': (
        'List the aggregates of a provider; stderr has its generation'
    ),
    'provider aggregate remove': (
        'Remove a provider from aggregates; it stays in its others'
    ),
    'provider aggregate set': 'Replace all aggregates of a provider by these',
    'provider create': (
        'Create a provider that no agent reports, such as shared storage'
    ),
    'provider delete': (
        'Delete a provider with its inventories, traits and aggregates'
    ),
    'provider inventory list': (
        'List the inventories of a provider; stderr has its generation'
    ),
    'provider inventory remove': (
        'Remove inventories from a provider; its other classes stay'
    ),
    'provider inventory set': (
        'Set inventories of a provider, or single fields of them'
    ),
    'provider list': 'List the providers that meet all conditions',
    'provider rename': 'Rename a provider; uuid, parent and contents stay',
    'provider show': (
        'Show all of a provider: its place, contents, usage and generation'
    ),
    'provider trait add': 'Add traits to a provider; its other traits stay',
    'provider trait clear': 'Remove all traits from a provider',
    'provider trait list': (
        'List the traits of a provider; stderr has its generation'
    ),
    'provider trait remove': (
        'Remove traits from a provider; the traits themselves still exist'
    ),
    'provider trait set': 'Replace all traits of a provider by these',
    'resource class add': (
        'Create a custom resource class; an existing one is reported and kept'
    ),
    'resource class list': 'List the resource classes that placement knows',
    'resource class remove': (
        'Remove a custom resource class of which no provider has inventory'
    ),
    'rules test': (
        'Show what each rule gives on this host, and the facts behind it'
    ),
    'run': 'Run the daemon: one cycle after the other, until it is stopped',
    'state export': (
        'Print the record of a node, for the agent that will report the node'
    ),
    'state import': 'Import the record of a node that another agent exported',
    'state show': (
        'List the record: who created a provider, and who added or claims '
        'a name'
    ),
    'status': 'Show how the running daemon and its nodes are',
    'sync': "Run one cycle: make placement match this agent's nodes",
    'trait add': 'Create custom traits; existing ones are reported and kept',
    'trait list': 'List the traits that placement knows, standard and custom',
    'trait prune': 'Remove all custom traits that no provider has',
    'trait remove': 'Remove custom traits that no provider has',
    'trait show': (
        'Show if placement knows a trait, and which providers have it'
    ),
    'trait sync-check': (
        'Compare the standard traits of the installed os-traits with '
        "placement's"
    ),
    'tree show': (
        'Show a tree of providers, with inventory, traits and aggregates'
    ),
}


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
        for name, point in self.commands.items():
            yield name, _listed(name, point)


def _listed(name: str, point: Entry) -> Entry:
    """Return a stand-in for a command that is in the table, else the command.

    A command of cliff, or of another distribution, need not be in the table.
    """
    summary = SUMMARIES.get(name)
    if summary is None:
        return point
    listed = type('Listed', (_Listed,), {'_description': summary})
    return commandmanager.EntryPointWrapper(name, listed)


class _Listed(command.Command):
    """A command in the list of commands; it has a summary only."""

    def take_action(self, parsed_args: typing.Any) -> None:
        """Fail: the manager returns no such class to run."""
        raise NotImplementedError


class Help(cliff_help.HelpCommand):
    """print detailed help for another command"""  # noqa: D400

    def get_epilog(self) -> str:
        """Return the text that cliff finds by looking at each distribution.

        The search takes as long as all else that prints the help of a command.
        """
        return 'This command is provided by the cliff plugin.'
