# SPDX-License-Identifier: Apache-2.0
"""What the in-process placement holds, read from its database in one go.

For tests that look at everything after every step: a look takes a fraction of
a millisecond where the API takes one per request.
"""

import dataclasses
import typing

_PROVIDERS = """
select p.id, p.uuid, p.name, q.uuid, p.generation from resource_providers p
left join resource_providers q on q.id = p.parent_provider_id"""
_TRAITS = """
select h.resource_provider_id, t.name from resource_provider_traits h
join traits t on t.id = h.trait_id"""
_AGGREGATES = """
select h.resource_provider_id, a.uuid from resource_provider_aggregates h
join placement_aggregates a on a.id = h.aggregate_id"""
_INVENTORIES = """
select i.resource_provider_id, c.name, i.total, i.reserved, i.min_unit,
i.max_unit, i.step_size, i.allocation_ratio from inventories i
join resource_classes c on c.id = i.resource_class_id"""
_ALLOCATIONS = """
select a.resource_provider_id, a.consumer_id, c.name, a.used
from allocations a join resource_classes c on c.id = a.resource_class_id"""


class Fields(typing.NamedTuple):
    """One inventory record as placement keeps it."""

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = 2147483647
    step_size: int = 1
    allocation_ratio: float = 1.0

    @property
    def capacity(self) -> float:
        """How much can be allocated."""
        return (self.total - self.reserved) * self.allocation_ratio


@dataclasses.dataclass(slots=True, kw_only=True)
class Claims:
    """One provider as placement keeps it.

    :ivar allocations: consumer and class → amount
    """

    uuid: str
    name: str
    parent: str | None
    generation: int
    traits: set[str] = dataclasses.field(default_factory=set)
    aggregates: set[str] = dataclasses.field(default_factory=set)
    inventories: dict[str, Fields] = dataclasses.field(default_factory=dict)
    allocations: dict[tuple[str, str], int] = dataclasses.field(
        default_factory=dict
    )

    def names(self, kind: str) -> set[str]:
        """Return the names of one kind: trait, aggregate or inventory."""
        if kind == 'trait':
            return self.traits
        return (
            self.aggregates if kind == 'aggregate' else set(self.inventories)
        )


def contents(placement: typing.Any) -> dict[str, Claims]:
    """Return all providers by uuid, read beside the API."""
    ask = placement._database.execute
    by_id = {
        key: Claims(uuid=uuid, name=name, parent=parent, generation=generation)
        for key, uuid, name, parent, generation in ask(_PROVIDERS)
    }
    for key, name in ask(_TRAITS):
        by_id[key].traits.add(name)
    for key, uuid in ask(_AGGREGATES):
        by_id[key].aggregates.add(uuid)
    for key, rc, *fields in ask(_INVENTORIES):
        by_id[key].inventories[rc] = Fields(*fields)
    for key, consumer, rc, used in ask(_ALLOCATIONS):
        by_id[key].allocations[consumer, rc] = used
    return {held.uuid: held for held in by_id.values()}
