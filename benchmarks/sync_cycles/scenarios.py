# SPDX-License-Identifier: Apache-2.0
"""What is measured: scenarios, shapes of clouds, and the cases of a run.

Pure. ``bench.py`` carries a case out, ``report.py`` names it in tables.
"""

import dataclasses
import enum
import itertools
from collections.abc import Iterator, Sequence

from . import cloud

OURS, NOVA = 'compute-agent', 'nova'
AGENTS = (NOVA, OURS)
NOVA_AT_MOST = 1000  # nodes: beyond, its first sync alone takes many minutes
CROWDED_NODES = 100
# Seconds: the last two are the defaults of options of both, and of ours.
PERIOD, REFRESH, FULL_READ = 60, 300, 3600


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One situation of an agent, of which a cycle is measured.

    :ivar is_first: placement has nothing yet; else what a first sync left
    :ivar is_warm: the process did a cycle before; else it just started
    :ivar change: what changes between that and the measured cycle
    :ivar is_stale: what an agent may remember for 300 s is older: nova's
        cache, and what this agent knows of sharing providers
    :ivar full_read: this agent's slow full read is due
    :ivar agents: who is measured
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
        """Whether the next cycle finds what the measured one found."""
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
    """What the cloud looks like."""

    FLAT = 'flat'
    NESTED = 'nested'
    CROWDED = 'crowded'

    @property
    def tree_size(self) -> int:
        """How many providers one node is."""
        return cloud.TREE_SIZE if self is Shape.NESTED else 1


# The first sync comes first: it leaves what the others start from.
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
BY_NAME = {one.name: one for one in SCENARIOS[Shape.FLAT]}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Cases that start from what the first of them left.

    :ivar repeat: which time it is done, from 0
    """

    database: str
    shape: Shape
    nodes: int
    agent: str
    repeat: int

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios of this group, the first sync first."""
        every = SCENARIOS[self.shape]
        return [one for one in every if self.agent in one.agents]

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
    """Return how many nodes there are in a cloud of this shape."""
    if shape is Shape.FLAT:
        return flat
    return (1,) if shape is Shape.NESTED else (CROWDED_NODES,)
