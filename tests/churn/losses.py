# SPDX-License-Identifier: Apache-2.0
"""Whether anybody took, or put back, what is another's; at any moment.

Pure. All writes that went through are done again, in their order, on what the
provider then had; each may change the names of its writer alone. An operator
changes ratios and nothing else of an inventory, the agent whose driver counts
all else; a class never goes. ``churn.py`` asks, with the journal.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import agents_at_work as agents
import people
from journal import Request

from compute_agent.tree import inventory

AT = f'/resource_providers/{agents.NODE}'


def owners(operators: Iterable[str]) -> dict[str, set[str]]:
    """Return, for each trait and aggregate, who may add and remove it."""
    found: dict[str, set[str]] = {}
    for who in operators:
        for number in range(people.CHOICES):
            found[people.trait(who, number)] = {who}
            found[people.aggregate(who, number)] = {who}
    for who in agents.STANDARD:
        for names in agents.names_of(who):
            found |= {name: {who} for name in names}
    return found


class Replay:
    """What the provider has after the writes so far, and what was wrong.

    :ivar faults: one line for each thing that its writer had no right to
    """

    def __init__(self, owners: Mapping[str, set[str]]) -> None:
        self._owners = owners
        self.names: dict[str, set[str]] = {
            'traits': set(),
            'aggregates': set(),
        }
        self.inventories: dict[str, inventory.Inventory] = {}
        self.faults: list[str] = []

    def all(self, requests: Iterable[Request]) -> None:
        """Do all of them again that changed something."""
        for request in requests:
            if request.writes and request.done:
                self._one(request)

    def _one(self, request: Request) -> None:
        _, found, rest = request.path.partition(f'{AT}/')
        kind, _, name = rest.partition('/')
        if not found:
            self._elsewhere(request)
        elif kind in self.names:
            self._names(request, kind)
        elif name:
            self._inventories(
                request,
                {**self.inventories, name: _record(request.body)},
            )
        else:
            records = request.body['inventories']
            self._inventories(
                request, {rc: _record(r) for rc, r in records.items()}
            )

    def _elsewhere(self, request: Request) -> None:
        """Names are created, consumers come and go, the node is created."""
        top = request.path.split('/')[1]
        known = {'traits', 'resource_classes', 'allocations'}
        created = (request.method, request.path) == (
            'POST',
            '/resource_providers',
        )
        if request.method == 'DELETE' or not (top in known or created):
            self._fault(request, 'nobody was to do that')

    def _names(self, request: Request, kind: str) -> None:
        new = set(request.body[kind])
        old = self.names[kind]
        for name in sorted(old - new):
            if request.who not in self._owners.get(name, set()):
                self._fault(request, f'took {name}')
        for name in sorted(new - old):
            mine = request.who in self._owners.get(name, set())
            both = name in agents.BOTH and request.who in agents.STANDARD
            if not mine and not both:
                self._fault(request, f'put {name} there')
        self.names[kind] = new

    def _inventories(
        self, request: Request, new: dict[str, inventory.Inventory]
    ) -> None:
        for rc, old in self.inventories.items():
            if rc not in new:
                self._fault(request, f'took {rc}')
                continue
            ratio = new[rc].allocation_ratio
            like_old = dataclasses.replace(new[rc], allocation_ratio=1.0)
            was_like = dataclasses.replace(old, allocation_ratio=1.0)
            by_agent = request.who in agents.STANDARD
            if by_agent and ratio != old.allocation_ratio:
                self._fault(request, f'changed the ratio of {rc}')
            if request.who != agents.COUNTS and like_old != was_like:
                self._fault(request, f'changed {rc} as {like_old}')
        self.inventories = new

    def _fault(self, request: Request, what: str) -> None:
        self.faults.append(
            f'{request.who}: {request.method} {request.path}: {what}'
        )


def _record(body: Mapping[str, Any]) -> inventory.Inventory:
    return inventory.Inventory.from_record(
        {f: v for f, v in body.items() if f in inventory.FIELDS}
    )
