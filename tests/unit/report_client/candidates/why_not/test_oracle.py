# SPDX-License-Identifier: Apache-2.0
"""A request is narrowed to a tree, or made one with more ways to be met."""

import pytest

from compute_agent.tree import inventory, names, provider
from report_client.candidates.values.answer import Allocation, Answer, Summary
from report_client.candidates.values.neighbourhood import (
    NearProvider,
    Neighbourhood,
)
from report_client.candidates.values.query import Group, Request, TraitQuery
from report_client.candidates.why_not import oracle

SHARES = names.MISC_SHARES_VIA_AGGREGATE
ROOT, OTHER = (f'{n * 8}-1111-4111-8111-111111111111' for n in 'ab')


def provider_with(name, *traits, used=None, **records):
    return NearProvider(
        provider=provider.Provider(
            uuid=name,
            name=name,
            inventories={
                rc: inventory.Inventory.from_record(record)
                for rc, record in records.items()
            },
            traits=frozenset(traits),
        ),
        used=used or {},
    )


def near(*tree, sharing=()):
    return Neighbourhood(tree=tree, sharing=sharing, reached=frozenset())


def answer(*roots, ways=1):
    """Return so many ways, and roots that have these traits."""
    summaries = [
        Summary(
            uuid=f'r{number}',
            parent_uuid=None,
            root_uuid=f'r{number}',
            traits=frozenset(traits),
            offers={},
        )
        for number, traits in enumerate(roots)
    ]
    child = Summary(
        uuid='child',
        parent_uuid='r0',
        root_uuid='r0',
        traits=frozenset({'CUSTOM_OF_A_CHILD'}),
        offers={},
    )
    return Answer(
        allocations=(Allocation(resources={}, mappings={}),) * ways,
        summaries={one.uuid: one for one in (*summaries, child)},
    )


def vcpu(name='', n=2, **more):
    return Group(name=name, resources={'VCPU': n}, **more)


NODE = provider_with('cn1', 'COMPUTE_NODE', VCPU={'total': 8})
SHARE = provider_with('nfs', SHARES, DISK_GB={'total': 100, 'min_unit': 10})


@pytest.mark.parametrize(
    ('neighbourhood', 'alone'),
    [
        (near(NODE), True),
        (near(NODE, sharing=[SHARE]), False),
        (near(SHARE), False),
        (near(NODE, SHARE), False),
    ],
)
def test_a_tree_is_alone_that_shares_nothing_and_is_given_nothing(
    neighbourhood, alone
):
    assert neighbourhood.shares_nothing is alone


def test_all_groups_that_name_no_tree_are_confined():
    request = Request(
        groups=(vcpu(), vcpu('1', in_tree=OTHER), vcpu('_B')),
        group_policy='isolate',
        root_required=TraitQuery(required=('CUSTOM_A',)),
    )
    assert oracle.limited_to_tree(request, ROOT) == Request(
        groups=(
            vcpu(in_tree=ROOT),
            vcpu('1', in_tree=OTHER),
            vcpu('_B', in_tree=ROOT),
        ),
        group_policy='isolate',
        root_required=TraitQuery(required=('CUSTOM_A',)),
    )


def test_first_all_of_it_is_asked_with_somebody_beside():
    request = Request(
        groups=(vcpu('1'), vcpu('_MORE')),
        group_policy='isolate',
        same_subtree=(('1', '_MORE'),),
    )
    ways = answer(['COMPUTE_NODE', 'CUSTOM_A'], ['COMPUTE_NODE'], [])
    wider = next(oracle.with_more_ways(request, ways, near(NODE)))
    somebody = TraitQuery(any_of=((SHARES, 'COMPUTE_NODE'),))
    assert wider == Request(
        groups=(
            vcpu('1'),
            vcpu('_MORE'),
            Group(name='_MORE_', traits=somebody),
        ),
        group_policy='none',
        same_subtree=(('1', '_MORE'), ('_MORE_',)),
        limit=1000,
    )


def test_more_ways_are_wanted_than_there_were():
    ways = answer([], ways=1000)
    wider = next(oracle.with_more_ways(Request.of(vcpu()), ways, near(NODE)))
    assert wider.limit == 1001


def test_then_the_least_of_each_class_that_is_free_is_asked_for():
    full = {'used': {'VCPU': 8}}
    node = provider_with(
        'cn1', VCPU={'total': 8}, MEMORY_MB={'total': 9}, **full
    )
    around = near(
        node, sharing=[SHARE, provider_with('b', DISK_GB={'total': 1})]
    )
    request = Request.of(vcpu())
    _, *rest = oracle.with_more_ways(request, answer([]), around)
    assert [one.groups[0].resources for one in rest] == [
        {'DISK_GB': 10},
        {'MEMORY_MB': 1},
    ]
    assert {one.groups[1].traits.any_of for one in rest} == {((SHARES,),)}


def test_a_tree_of_many_classes_is_not_asked_for_each():
    classes = {f'CUSTOM_{n}': {'total': 1} for n in range(9)}
    found = oracle.with_more_ways(
        Request.of(vcpu()), answer([]), near(provider_with('cn1', **classes))
    )
    assert len(list(found)) == 5
