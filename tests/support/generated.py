# SPDX-License-Identifier: Apache-2.0
"""Generated providers: forests, and pairs of forests with much in common.

Hypothesis strategies for the pure tests. The pools of uuids, names and classes
are small on purpose, so that names are swapped, freed and taken again.
"""

import collections.abc
import typing

from hypothesis import strategies as st

from compute_agent.tree import inventory, provider

UUIDS = tuple(f'u{number}' for number in range(7))
NAMES = tuple(f'name{number}' for number in range(7))
TRAITS = ('CUSTOM_A', 'CUSTOM_B', 'HW_CPU_X86_AVX2')
AGGREGATES = ('agg1', 'agg2')
CLASSES = ('CUSTOM_GOLD', 'MEMORY_MB', 'VCPU')


@st.composite
def inventories(draw: st.DrawFn) -> inventory.Inventory:
    """One record; few values, so that two are often alike."""
    total = draw(st.sampled_from((1, 4, 8, 16)))
    return inventory.Inventory(
        total=total,
        reserved=draw(st.sampled_from((0, 1, total))),
        min_unit=draw(st.sampled_from((1, 2))),
        max_unit=draw(st.sampled_from((1, 4, 16))),
        step_size=draw(st.sampled_from((1, 2, 3))),
        allocation_ratio=draw(st.sampled_from((1.0, 2.0, 16.0))),
    )


def contents() -> st.SearchStrategy[dict[str, typing.Any]]:
    """What a provider holds, as keywords of Provider."""
    return st.fixed_dictionaries(
        {
            'inventories': st.dictionaries(
                st.sampled_from(CLASSES), inventories(), max_size=3
            ),
            'traits': st.frozensets(st.sampled_from(TRAITS)),
            'aggregates': st.frozensets(st.sampled_from(AGGREGATES)),
        }
    )


@st.composite
def forests(
    draw: st.DrawFn, like: provider.Snapshot | None = None
) -> provider.Snapshot:
    """A snapshot; one that shares much with ``like`` if that is given."""
    like = like or {}
    grown: dict[str, provider.Provider] = {}
    names = list(NAMES)
    for uuid in draw(st.permutations(_some_uuids(draw, like))):
        old = like.get(uuid)
        kept = draw(_KEPT) if old else frozenset[str]()
        if old and 'name' in kept and old.name in names:
            name = old.name
        else:
            name = draw(st.sampled_from(names))
        names.remove(name)
        if old and 'parent' in kept and old.parent_uuid in (None, *grown):
            parent = old.parent_uuid
        else:
            parent = draw(st.sampled_from((None, *grown)))
        inside = draw(contents())
        for field in sorted(kept & set(inside)):
            inside[field] = getattr(old, field)
        grown[uuid] = provider.Provider(
            uuid=uuid, name=name, parent_uuid=parent, **inside
        )
    return provider.snapshot(grown.values())


@st.composite
def changes(
    draw: st.DrawFn,
) -> tuple[provider.Snapshot, provider.Snapshot]:
    """A snapshot and what it is to become."""
    before = draw(forests())
    return before, draw(forests(before))


_FIELDS = frozenset({'name', 'parent', 'inventories', 'traits', 'aggregates'})
# All but one, or any: most real changes are small.
_KEPT = st.sampled_from(
    [_FIELDS, *(_FIELDS - {field} for field in sorted(_FIELDS))]
) | st.frozensets(st.sampled_from(sorted(_FIELDS)))


def _some_uuids(
    draw: st.DrawFn, like: collections.abc.Iterable[str]
) -> list[str]:
    fresh = draw(st.sets(st.sampled_from(UUIDS), max_size=6))
    gone = draw(st.sets(st.sampled_from(UUIDS), max_size=3)) if like else []
    return sorted((set(like) - set(gone)) | fresh)
