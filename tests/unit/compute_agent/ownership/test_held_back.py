# SPDX-License-Identifier: Apache-2.0
"""What stays on a provider while a loss of its capacity is held."""

import dataclasses

from compute_agent.limits import approval
from compute_agent.ownership import held_back
from compute_agent.tree import inventory, provider

NODE = '11111111-1111-4111-8111-111111111111'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
GOLD, SILVER = 'CUSTOM_GOLD', 'CUSTOM_SILVER'


def records(reserved=0, **totals):
    return {
        rc: inventory.Inventory(total=total, reserved=reserved)
        for rc, total in totals.items()
    }


def kept(was, wanted, rc, **names):
    """Return what stays of a node that loses these names, and of a class."""
    old = provider.Provider(uuid=NODE, name='node', inventories=was)
    new = dataclasses.replace(old, inventories=wanted)
    old = dataclasses.replace(old, **names)
    fall = wanted[rc].total if rc in wanted else 0
    after, _ = held_back.keep(
        provider.snapshot([old]),
        provider.snapshot([new]),
        [approval.capacity_fall((NODE, rc), fall)],
    )
    return after[NODE]


def test_where_a_held_class_would_go_no_new_one_is_added():
    was = records(CUSTOM_GOLD=1, VCPU=4)
    found = kept(was, records(CUSTOM_SILVER=1, VCPU=6), GOLD)
    assert found.inventories == records(CUSTOM_GOLD=1, VCPU=6)


def test_a_new_class_beside_a_total_that_is_held_is_added():
    found = kept(records(VCPU=64), records(VCPU=4, CUSTOM_SILVER=1), 'VCPU')
    assert found.inventories == records(VCPU=64, CUSTOM_SILVER=1)


def test_held_capacity_keeps_its_traits_and_aggregates():
    names = {
        'traits': frozenset({'CUSTOM_A'}),
        'aggregates': frozenset({AGGREGATE}),
    }
    for wanted in ({}, records(VCPU=4)):
        found = kept(records(VCPU=64), wanted, 'VCPU', **names)
        assert found.inventories == records(VCPU=64)
        assert found.traits == names['traits']
        assert found.aggregates == names['aggregates']


def test_held_capacity_that_is_taken_out_of_service_is_so_as_a_whole():
    found = kept(records(VCPU=64), records(4, VCPU=4), 'VCPU')
    assert found.inventories == records(64, VCPU=64)
    found = kept(records(VCPU=64), records(3, VCPU=4), 'VCPU')
    assert found.inventories == records(3, VCPU=64)
