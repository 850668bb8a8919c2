# SPDX-License-Identifier: Apache-2.0
"""The cases of a run: scenarios, and shapes of clouds.

Pure. ``bench.py`` runs a case, ``report.py`` names it in tables.
"""

import dataclasses
import enum
import itertools
from collections.abc import Iterator, Sequence

from . import cloud

OURS, NOVA = 'compute-agent', 'nova'
AGENTS = (NOVA, OURS)
NOVA_AT_MOST = 1000  # nodes; with more, its first sync takes many minutes
CROWDED_NODES = 100
# Seconds. REFRESH is a default option of both agents, FULL_READ one of ours.
PERIOD, REFRESH, FULL_READ = 60, 300, 3600


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The situation of an agent in a measured cycle.

    :ivar is_first: True if placement is empty; else a first sync has filled it
    :ivar is_warm: True if the process has run cycles; else it just started
    :ivar change: the change just before the measured cycle
    :ivar is_stale: True if data that is kept for 300 s has expired: nova's
        cache, and this agent's readings of sharing providers
    :ivar full_read: True if this agent's slow full read is due
    :ivar agents: the measured agents
    """

    name: str
    title: str
    is_first: bool = False
    is_warm: bool = True
    change: cloud.Change = cloud.Change.NOTHING
    is_stale: bool = False
    full_read: bool = False
    agents: Sequence[str] = AGENTS

    @property
    def is_lasting(self) -> bool:
        """True if the next cycle is in the same situation."""
        return self.is_warm and self.change is cloud.Change.NOTHING


FIRST = Scenario(
    name='first', title='first sync', is_first=True, is_warm=False
)
RESTART = Scenario(
    name='restart', title='restart, nothing changed', is_warm=False
)
STEADY = Scenario(name='steady', title='steady cycle')
STALE = Scenario(
    name='stale', title='steady cycle, after 300 s', is_stale=True
)
SLOW_READ = Scenario(
    name='full_read',
    title='slow full read, at a restart',
    is_warm=False,
    full_read=True,
    agents=(OURS,),
)
TRAIT = Scenario(
    name='trait', title='1 % changed one trait', change=cloud.Change.TRAIT
)
CONTENTS = Scenario(
    name='contents',
    title='1 % changed a trait and inventory',
    change=cloud.Change.CONTENTS,
)
ALLOCATED = Scenario(
    name='allocated',
    title='1 % got allocations',
    change=cloud.Change.ALLOCATIONS,
)


class Shape(enum.Enum):
    """The shape of a cloud."""

    FLAT = 'flat'
    NESTED = 'nested'
    CROWDED = 'crowded'

    @property
    def tree_size(self) -> int:
        """The number of providers of one node."""
        return cloud.TREE_SIZE if self is Shape.NESTED else 1


# The first sync must be first: the others start from its result.
SCENARIOS = {
    Shape.FLAT: (
        FIRST,
        RESTART,
        STEADY,
        STALE,
        SLOW_READ,
        TRAIT,
        CONTENTS,
        ALLOCATED,
    ),
    Shape.NESTED: (FIRST, RESTART, STEADY, STALE, SLOW_READ),
    Shape.CROWDED: (FIRST, RESTART, STEADY, STALE, SLOW_READ),
}
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS[Shape.FLAT]}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cases that start from the result of the first of them.

    :ivar repeat: the number of the repetition, from 0
    """

    database: str
    shape: Shape
    nodes: int
    agent: str
    repeat: int

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios of this group, the first sync first."""
        return [
            scenario
            for scenario in SCENARIOS[self.shape]
            if self.agent in scenario.agents
        ]

    def __str__(self) -> str:
        return (
            f'{self.database}, {self.shape.value}, {self.nodes} '
            f'node{"" if self.nodes == 1 else "s"}, {self.agent}'
        )


def groups(
    databases: Sequence[str],
    shapes: Sequence[Shape],
    nodes: Sequence[int],
    repeats: int,
) -> Iterator[Group]:
    """Yield all groups of a run; the agents take turns."""
    for database, shape in itertools.product(databases, shapes):
        for count, repeat in itertools.product(
            _nodes(shape, nodes), range(repeats)
        ):
            for agent in AGENTS:
                if agent == NOVA and count > NOVA_AT_MOST:
                    continue
                yield Group(
                    database=database,
                    shape=shape,
                    nodes=count,
                    agent=agent,
                    repeat=repeat,
                )


def _nodes(shape: Shape, flat: Sequence[int]) -> Sequence[int]:
    """Return the numbers of nodes to measure in clouds of this shape."""
    if shape is Shape.FLAT:
        return flat
    return (1,) if shape is Shape.NESTED else (CROWDED_NODES,)
