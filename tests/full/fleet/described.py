# SPDX-License-Identifier: Apache-2.0
"""The nodes of a fleet: those of the fake driver's file, or a real Ironic's.

Both can change all their nodes, and have one more or one less. They know what
placement should have; ``reported`` reads what it has, from its database.
"""

import contextlib
import pathlib
import sqlite3
import typing
import uuid
from collections.abc import Iterable, Mapping

import ironic_fixture
from databases import relay
from long_runs import daemon, recording_placement

OPERATORS = 'CUSTOM_OPERATOR'
_CHANGING = 30  # nodes of Ironic at a time; each takes some requests
_SPACE = uuid.UUID('3a0c9b0e-7b1d-4b53-8c3f-0e8d0c4f7a10')
_TRAITS = (
    'select p.name, t.name from resource_providers p '
    'left join resource_provider_traits o on o.resource_provider_id = p.id '
    'left join traits t on t.id = o.trait_id'
)
_TOTALS = (
    'select p.name, i.total from inventories i '
    'join resource_providers p on p.id = i.resource_provider_id'
)

#: The name of a provider → its traits, and the total of its one class.
Providers = dict[str, tuple[frozenset[str], int]]


class Nodes(typing.Protocol):
    """The nodes that the driver of each agent describes.

    :ivar leaves_others: True if the agents leave other writers' traits alone
    :ivar prefix: of the names of the providers that the share has
    """

    leaves_others: bool
    prefix: str

    @property
    def wanted(self) -> Providers:
        """What placement should have, with the traits in which nodes differ."""

    def address(self) -> relay.Address | None:
        """Return where the driver asks for the nodes, if it asks."""

    def options(self, at: relay.Address | None) -> str:
        """Return the driver's options.

        :param at: the relay to ``address``
        """

    def tell(self, daemons: Iterable[daemon.Daemon]) -> None:
        """Let the drivers know what has changed."""

    def change(self) -> None:
        """Change many nodes: there is a write for each."""

    def arrive(self) -> None:
        """Have another node."""

    def leave(self) -> str:
        """Have one node no more; return its name."""


class FakeNodes:
    """Those of a file for the fake driver."""

    leaves_others = True

    def __init__(self, count: int, prefix: str = 'rack1-') -> None:
        self.prefix = prefix
        self._names: list[str] = []
        self._made = 0
        self._total = 10
        for _ in range(count):
            self.arrive()

    @property
    def wanted(self) -> Providers:
        """What placement should have."""
        traits = frozenset({'CUSTOM_RACK_1'})
        return dict.fromkeys(self._names, (traits, self._total))

    def address(self) -> None:
        """Return nothing: the driver reads a file."""

    def options(self, at: relay.Address | None) -> str:
        """Return nothing: ``Daemon`` has the options of this driver."""
        del at
        return ''

    def tell(self, daemons: Iterable[daemon.Daemon]) -> None:
        """Write the file of each agent."""
        nodes = [
            {
                'name': name,
                'uuid': str(uuid.uuid5(_SPACE, name)),
                'inventories': {'VCPU': total},
                'traits': sorted(traits),
            }
            for name, (traits, total) in self.wanted.items()
        ]
        for one in daemons:
            one.describe(nodes)

    def change(self) -> None:
        """Give each node one VCPU more."""
        self._total += 1

    def arrive(self) -> None:
        """Have another node."""
        self._made += 1
        self._names.append(f'{self.prefix}node-{self._made}')

    def leave(self) -> str:
        """Have the oldest node no more."""
        return self._names.pop(0)


class IronicNodes:
    """Those of a real Ironic; most are copies of its first one."""

    leaves_others = False  # Ironic decides all traits of its nodes
    prefix = ''

    def __init__(self, operator: ironic_fixture.Ironic, count: int) -> None:
        self._operator = operator
        self._made = self._turn = 0
        self._arrived: list[str] = []
        for _ in range(2):
            self.arrive()
        first = self._arrived.pop(0)
        self._stay = [first, *operator.copies(first, count - 2)]
        self._changing = self._stay[:_CHANGING]

    @property
    def wanted(self) -> Providers:
        """What placement should have."""
        traits = frozenset({'CUSTOM_RACK_1'})
        found = dict.fromkeys([*self._stay, *self._arrived], (traits, 1))
        turns = {f'CUSTOM_TURN_{n}' for n in range(self._turn)}
        return found | dict.fromkeys(self._changing, (traits | turns, 1))

    def address(self) -> relay.Address:
        """Return where Ironic listens."""
        host, _, port = self._operator.url.rpartition('/')[2].partition(':')
        return host, int(port)

    def options(self, at: relay.Address | None) -> str:
        """Return the options of Ironic's driver."""
        assert at
        return (
            '[DEFAULT]\ncompute_driver = ironic\n'
            '[ironic]\nauth_type = none\n'
            f'endpoint_override = http://{at[0]}:{at[1]}\n'
        )

    def tell(self, daemons: Iterable[daemon.Daemon]) -> None:
        """Do nothing: the drivers ask Ironic."""

    def change(self) -> None:
        """Give some nodes one trait more."""
        trait = f'CUSTOM_TURN_{self._turn}'
        self._operator.force_trait(trait, self._changing)
        self._turn += 1

    def arrive(self) -> None:
        """Have another node."""
        self._made += 1
        made = self._operator.available(
            f'node-{self._made}', traits=['CUSTOM_RACK_1']
        )
        self._arrived.append(made)

    def leave(self) -> str:
        """Delete the oldest node that is no copy."""
        name = self._arrived.pop(0)
        self._operator.delete(name)
        return name


def reported(database: pathlib.Path, prefix: str = '') -> Providers:
    """Return what placement has, with the traits in which nodes differ.

    :param prefix: of the names of the providers
    """
    traits: dict[str, set[str]] = {}
    for name, trait in _rows(database, _TRAITS):
        if name.startswith(prefix):
            found = traits.setdefault(name, set())
            if trait and _is_nodes(trait):
                found.add(trait)
    totals: Mapping[str, int] = dict(_rows(database, _TOTALS))
    return {
        name: (frozenset(some), totals.get(name, 0))
        for name, some in traits.items()
    }


def with_trait(database: pathlib.Path, trait: str) -> set[str]:
    """Return the names of the providers that have a trait."""
    return {name for name, one in _rows(database, _TRAITS) if one == trait}


def _rows(database: pathlib.Path, query: str) -> list[tuple[str, typing.Any]]:
    opened = sqlite3.connect(f'file:{database}?mode=ro', uri=True, timeout=30)
    with recording_placement.turn(database), contextlib.closing(opened):
        return opened.execute(query).fetchall()


def _is_nodes(trait: str) -> bool:
    """Return True if a node has it: not each, nor by an agent or a person."""
    marks = (OPERATORS, 'CUSTOM_COMPUTE_AGENT_')
    return trait.startswith('CUSTOM_') and not trait.startswith(marks)
