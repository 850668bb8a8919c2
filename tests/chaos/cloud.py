# SPDX-License-Identifier: Apache-2.0
"""The nodes that the agent's driver describes, and how they change.

``Cloud`` is what is wanted; it tells the fake driver's author. A change is
a node that comes or goes, a child that comes or goes, or other contents.
"""

import dataclasses
import random
import uuid
from collections.abc import Callable
from typing import Any

NAMESPACE = uuid.UUID('6d5b0f0e-7a43-4c53-9f55-1f8a2f2c0d01')
CHILDREN = ('numa0', 'numa1', 'nic')
TRAITS = ('HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2', 'CUSTOM_GOLD', 'CUSTOM_RED')
AGENTS_OWN = frozenset({'COMPUTE_NODE', 'OWNER_NOVA'})


def derived(name: str) -> str:
    """Return the uuid of a provider or an aggregate."""
    return str(uuid.uuid5(NAMESPACE, name))


AGGREGATES = tuple(derived(f'aggregate {n}') for n in range(3))


@dataclasses.dataclass(slots=True)
class Wanted:
    """One provider as the driver describes it."""

    name: str
    parent: str | None
    totals: dict[str, int]
    traits: set[str]
    aggregates: set[str]

    @property
    def uuid(self) -> str:
        """Return the provider's uuid."""
        return derived(self.name)


class Cloud:
    """A number of nodes that change.

    :ivar nodes: node name → its providers, the root first
    """

    def __init__(
        self, describe: Callable[[list[Any]], object], size: int, seed: int
    ) -> None:
        """Describe the first nodes.

        :param describe: is told all nodes after each change
        """
        self._describe = describe
        self._size = size
        self._rng = random.Random(seed)
        self._number = 0
        self.changes = 0
        self.nodes: dict[str, list[Wanted]] = {}
        for _ in range(size):
            self._arrive()
        self._write()

    def change(self) -> None:
        """Let one thing change."""
        ways = [self._arrive, self._leave, self._leave, self._child]
        ways += [self._contents] * 4
        self._rng.choice(ways)()
        if len(self.nodes) < self._size:
            self._arrive()
        self.changes += 1
        self._write()

    def wanted(self) -> dict[str, Wanted]:
        """Return all providers by uuid."""
        return {p.uuid: p for some in self.nodes.values() for p in some}

    def _write(self) -> None:
        """Have the driver describe what is wanted."""
        self._describe([_described(some) for some in self.nodes.values()])

    def _arrive(self) -> None:
        if len(self.nodes) >= self._size + 2:
            return
        self._number += 1
        name = f'node-{self._number}'
        made = [self._provider(name, None)]
        made += [self._provider(f'{name}-{c}', name) for c in CHILDREN[:2]]
        self.nodes[name] = made

    def _leave(self) -> None:
        del self.nodes[self._any()]

    def _child(self) -> None:
        name = self._any()
        full = f'{name}-{self._rng.choice(CHILDREN)}'
        some = self.nodes[name]
        kept = [p for p in some if p.name != full]
        if len(kept) == len(some):
            kept.append(self._provider(full, name))
        self.nodes[name] = kept

    def _contents(self) -> None:
        some = self.nodes[self._any()]
        place = self._rng.randrange(len(some))
        old = some[place]
        some[place] = self._provider(old.name, old.parent)

    def _any(self) -> str:
        return self._rng.choice(sorted(self.nodes))

    def _provider(self, name: str, parent: str | None) -> Wanted:
        rng = self._rng
        return Wanted(
            name=name,
            parent=parent,
            totals={rc: rng.randint(10, 12) for rc in ('VCPU', 'MEMORY_MB')},
            traits=set(rng.sample(TRAITS, rng.randint(0, len(TRAITS)))),
            aggregates=set(rng.sample(AGGREGATES, rng.randint(0, 2))),
        )


def _described(some: list[Wanted]) -> dict[str, object]:
    root, *below = (
        {
            'name': p.name,
            'uuid': p.uuid,
            'inventories': dict(p.totals),
            'traits': sorted(p.traits),
            'aggregates': sorted(p.aggregates),
        }
        for p in some
    )
    return {**root, 'children': below}
