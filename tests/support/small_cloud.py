# SPDX-License-Identifier: Apache-2.0
"""Small clouds for tests: providers as values, and how they are made.

``build`` has another writer make them: the fixture's, or the command line's.
"""

import dataclasses
import typing
from collections.abc import Iterable, Mapping, Sequence

from compute_agent.testing.fixtures.other_writer import OtherWriter
from compute_agent.tree import names

SHARES = names.MISC_SHARES_VIA_AGGREGATE


@dataclasses.dataclass(frozen=True, kw_only=True)
class Made:
    """A provider to be made.

    :ivar parent: its name
    :ivar inventories: class → total, or record
    :ivar used: what is allocated of it, by class
    """

    name: str
    uuid: str
    parent: str | None = None
    inventories: Mapping[str, typing.Any] = dataclasses.field(
        default_factory=dict
    )
    used: Mapping[str, int] = dataclasses.field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()

    @property
    def shares(self) -> bool:
        """Whether others may be given something of it."""
        return SHARES in self.traits


def uuid(number: int) -> str:
    """Return a uuid that is easy to tell from others."""
    return f'{number:08}-0000-4000-8000-000000000000'


def build(others: OtherWriter, cloud: Iterable[Made]) -> None:
    """Make these providers, parents first, with all they hold."""
    uuids: dict[str | None, str] = {}
    for one in cloud:
        uuids[one.name] = one.uuid
        others.create(one.uuid, one.name, uuids.get(one.parent))
        records = {
            rc: given if isinstance(given, dict) else {'total': given}
            for rc, given in one.inventories.items()
        }
        if one.used:
            # As if it were allocated before the provider became what it is.
            others.set_inventories(
                one.uuid, {rc: {'total': 1000} for rc in records}
            )
            others.allocate(one.uuid, one.uuid, one.used)
        others.set_inventories(one.uuid, records)
        others.add_traits(one.uuid, *sorted(one.traits))
        others.set_aggregates(one.uuid, *sorted(one.aggregates))


class Store(typing.Protocol):
    """A placement whose database can be replaced."""

    def save(self) -> bytes:
        """Return the database."""

    def restore(self, database: bytes, /) -> None:
        """Put a saved database in its place."""


_saved: dict[str, bytes] = {}


def build_first(
    others: OtherWriter, cloud: Sequence[Made], store: Store
) -> None:
    """Make these providers in an empty placement; the next time, by a copy."""
    key = repr(cloud)
    if key in _saved:
        store.restore(_saved[key])
    else:
        build(others, cloud)
        _saved[key] = store.save()


# Two compute nodes, the first with two network cards of which one is used up,
# and a share that the first one has by an aggregate.
AGGREGATE = uuid(99)
RACK = (
    Made(
        name='cn1',
        uuid=uuid(1),
        inventories={
            'VCPU': 8,
            'MEMORY_MB': {'total': 4096, 'reserved': 512},
        },
        used={'VCPU': 7},
        traits=frozenset({'COMPUTE_NODE', 'CUSTOM_GOLD', 'HW_CPU_X86_AVX2'}),
        aggregates=frozenset({AGGREGATE}),
    ),
    Made(
        name='cn1_pf1',
        uuid=uuid(2),
        parent='cn1',
        inventories={'SRIOV_NET_VF': 4},
        used={'SRIOV_NET_VF': 4},
        traits=frozenset({'CUSTOM_PHYSNET_A'}),
    ),
    Made(
        name='cn1_pf2',
        uuid=uuid(3),
        parent='cn1',
        inventories={'SRIOV_NET_VF': 4},
        traits=frozenset({'CUSTOM_PHYSNET_B'}),
    ),
    Made(
        name='cn2',
        uuid=uuid(4),
        inventories={'VCPU': 8, 'MEMORY_MB': 4096, 'DISK_GB': 100},
        traits=frozenset({'COMPUTE_NODE'}),
    ),
    Made(
        name='nfs',
        uuid=uuid(5),
        inventories={'DISK_GB': {'total': 100, 'min_unit': 10}},
        traits=frozenset({SHARES, 'STORAGE_DISK_SSD'}),
        aggregates=frozenset({AGGREGATE}),
    ),
)
