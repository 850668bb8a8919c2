# SPDX-License-Identifier: Apache-2.0
"""Laws of what placement should hold, whatever drivers and files say."""

import dataclasses
import uuid as uuidlib
from unittest import mock

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent.ownership import claims, resolve
from compute_agent.ownership.policy import Orders, Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import Kind

FIELDS = {
    Kind.TRAIT: 'traits',
    Kind.AGGREGATE: 'aggregates',
    Kind.INVENTORY: 'inventories',
}
FILE = 'file:/etc/nova/provider_config/a.yaml'
UUIDS = [str(uuidlib.UUID(int=number)) for number in range(1, 6)]
ROOT = UUIDS[0]
TO_BE, IS = 'inventory is to be reserved', 'inventory is reserved'
NAMES = ['root', 'a', 'b', 'c', 'd']
TRAITS = ['CUSTOM_A', 'HW_CPU_X86_AVX', 'OWNER_CYBORG']
CLASSES = ['VCPU', 'CUSTOM_GOLD']
POLICY = Policy(authority={'driver': ('HW_CPU_*',)})

who = st.sampled_from(NAMES)
traits = st.lists(st.sampled_from(TRAITS), max_size=2)
aggregates = st.lists(st.sampled_from(UUIDS[:2]), max_size=2)
record = st.builds(
    dict, total=st.sampled_from([4, 8]), reserved=st.sampled_from([0, 2])
)
orders = st.builds(
    Orders,
    masked=st.sets(st.sampled_from(['CUSTOM_*', 'HW_CPU_X86_AVX'])),
    prune=st.sets(st.sampled_from([*TRAITS[:2], *CLASSES])),
)
records = st.dictionaries(st.sampled_from(CLASSES), record)

# One call of a source: the method and its arguments.
contents = st.one_of(
    st.tuples(st.just('update_traits'), who, traits),
    st.tuples(st.just('add_traits'), who, st.sampled_from(TRAITS)),
    st.tuples(st.just('remove_traits'), who, st.sampled_from(TRAITS)),
    st.tuples(st.just('keep_traits'), who),
    st.tuples(st.just('declare_traits'), who),
    st.tuples(st.just('declare_traits'), who, st.sampled_from(TRAITS)),
    st.tuples(st.just('declare_aggregates'), who, st.sampled_from(UUIDS[:2])),
    st.tuples(st.just('remove_aggregates'), who, st.sampled_from(UUIDS[:2])),
    st.tuples(st.just('update_aggregates'), who, aggregates),
    st.tuples(st.just('add_aggregates'), who, st.sampled_from(UUIDS[:2])),
    st.tuples(st.just('keep_aggregates'), who),
    st.tuples(st.just('update_inventory'), who, records),
    st.tuples(st.just('declare_inventory'), who, records),
    st.tuples(st.just('keep_inventory'), who),
)
shapes = st.one_of(
    st.tuples(st.just('remove'), st.sampled_from(NAMES[1:])),
    st.tuples(st.just('new_child'), who, who),
    st.tuples(st.just('new_child'), who, who, st.sampled_from(UUIDS)),
    st.tuples(st.just('new_root'), who, st.sampled_from(UUIDS)),
)
sources = st.sampled_from(['driver', FILE])


def said(calls, most=6):
    return st.lists(st.tuples(sources, calls), max_size=most)


scripts = said(contents | shapes, most=9)
# One that says the same of the same host again: first what is not there, then
# what is, then what is in it.
steady_scripts = st.builds(
    lambda *parts: [call for part in parts for call in part],
    said(st.tuples(st.just('remove'), st.sampled_from(NAMES[1:])), most=2),
    said(st.tuples(st.just('new_child'), who, st.just('root')), most=2),
    said(contents),
)


@st.composite
def forests(draw):
    """What placement holds: the node, and others below or beside it."""
    found = []
    for number, (uuid, name) in enumerate(zip(UUIDS, NAMES, strict=True)):
        if number and not draw(st.booleans()):
            continue
        above = [None, *(one.uuid for one in found)] if number else [None]
        found.append(
            provider.Provider(
                uuid=uuid,
                name=name,
                parent_uuid=draw(st.sampled_from(above)),
                traits=frozenset(draw(traits)),
                aggregates=frozenset(draw(aggregates)),
                inventories={
                    rc: inventory.Inventory.from_record(one)
                    for rc, one in draw(records).items()
                },
            )
        )
    return provider.snapshot(found)


@st.composite
def worlds(draw):
    """What placement holds, which of it we created, and which we added."""
    seen = draw(forests())
    created = draw(st.sets(st.sampled_from(sorted(seen))))
    written = created | set(provider.descendants(seen, ROOT))
    ours = {
        (one.uuid, kind): frozenset(
            name
            for name in sorted(getattr(one, field))
            if one.uuid in written and draw(st.booleans())
        )
        for one in seen.values()
        for kind, field in FIELDS.items()
    }
    return seen, Record(created=frozenset(created), ours=ours)


def edited(seen, script):
    """Return the tree after these calls; those it refuses do nothing."""
    tree = provider_tree.ProviderTree.from_providers(seen.values())
    for source, (method, *arguments) in script:
        with tree.asserting(source):
            try:
                getattr(tree, method)(*arguments)
            except (errors.TreeError, errors.Renamed):
                continue
    return tree


def remembered(record, seen, wanted):
    """Return the record once all that is wanted has been done."""
    ours = dict(record.ours)
    for uuid, one in wanted.after.items():
        for kind, field in FIELDS.items():
            now = getattr(one, field)
            was = getattr(seen[uuid], field) if uuid in seen else ()
            if now != was:
                added = set(now) - set(was)
                before = ours.get((uuid, kind), frozenset())
                ours[uuid, kind] = (before | added) & frozenset(now)
    return Record(
        created=record.created | (set(wanted.after) - set(seen)),
        ours=ours,
        claims={**record.claims, **wanted.claims},
    )


def resolved(tree, record, policy=POLICY):
    """Resolve it; no provider of others is in a pool's aggregate."""
    return resolve.resolve(
        tree, ROOT, record, policy, outsiders=dict.fromkeys(UUIDS, ())
    )


law = settings(max_examples=examples(80), deadline=None)


@law
@given(worlds(), scripts)
def test_what_is_wanted_is_always_a_forest(world, script):
    seen, record = world
    tree = edited(seen, script)
    after = resolved(tree, record).after
    assert {uuid for uuid in seen if tree.exists(uuid)} <= set(after)
    names = [one.name for one in after.values()]
    assert len(names) == len(set(names))
    above = {None}
    for uuid, one in after.items():
        assert one.parent_uuid in above
        above.add(uuid)


@law
@given(worlds(), scripts)
def test_what_we_did_not_create_is_not_deleted(world, script):
    seen, record = world
    after = resolved(edited(seen, script), record).after
    assert set(seen) - set(after) <= record.created


@law
@given(worlds(), scripts)
def test_a_name_goes_only_if_it_is_ours_or_decided_or_marked(world, script):
    seen, record = world
    wanted = resolved(edited(seen, script), record)
    for uuid in set(seen) & set(wanted.after):
        for kind, field in FIELDS.items():
            was = set(getattr(seen[uuid], field))
            gone = was - set(getattr(wanted.after[uuid], field))
            marked = wanted.foreign.get((uuid, kind), frozenset())
            assert marked <= gone
            for name in gone - marked:
                decided = kind is Kind.TRAIT and POLICY.decides('driver', name)
                assert decided or name in record.ours[uuid, kind]


@law
@given(worlds())
def test_silence_removes_only_what_is_ours_and_held_by_none(world):
    seen, record = world
    wanted = resolved(edited(seen, []), record)
    for uuid, one in seen.items():
        for kind, field in FIELDS.items():
            left = set(getattr(one, field)) - record.ours[uuid, kind]
            assert set(getattr(wanted.after[uuid], field)) == left
    assert wanted.foreign == {}
    assert wanted.claims == {}


@law
@given(worlds(), steady_scripts)
def test_the_same_words_in_the_next_cycle_want_the_same(world, script):
    seen, record = world
    first = resolved(edited(seen, script), record)
    second = resolved(
        edited(first.after, script),
        remembered(record, seen, first),
    )
    # What is to be reserved in the first cycle is reserved in the second.
    told = [line.replace(TO_BE, IS) for line in first.faults]
    assert [line.replace(TO_BE, IS) for line in second.faults] == told
    assert dataclasses.replace(second, notes=(), faults=()) == (
        resolve.Resolution(after=first.after, claims={}, foreign={})
    )


@pytest.mark.catches('names that were claimed are taken to be there')
@law
@given(worlds(), steady_scripts, said(contents, most=1), orders)
def test_what_is_as_recorded_needs_no_decision(world, script, more, ordered):
    seen, record = world
    first = resolved(edited(seen, script), record)
    record = remembered(record, seen, first)
    policy = dataclasses.replace(POLICY, orders=ordered)
    now = {
        uuid: dataclasses.replace(one, traits=one.traits - {TRAITS[1]})
        for uuid, one in first.after.items()
    }
    for placement in (first.after, now):
        tree = edited(placement, script[: len(script) - len(more)] + more)
        found = resolved(tree, record, policy)
        with mock.patch.object(claims, 'are_as_recorded', return_value=False):
            assert found == resolved(tree, record, policy)
