# SPDX-License-Identifier: Apache-2.0
"""Trees: what they cost, and what they do not let in."""

import sys
import uuid as uuidlib

import pytest
from gauntlet import verdict

from compute_agent.tree import provider_tree

MANY = 200


def uuid_of(number):
    return str(uuidlib.UUID(int=number + 1))


def lines(work):
    """Return how many lines of the product are run while this is done."""
    count = 0

    def note(frame, event, _argument):
        package = frame.f_globals.get('__name__', '').partition('.')[0]
        if package not in {'compute_agent', 'report_client', 'planted'}:
            return None
        nonlocal count
        count += event == 'line'
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def roots(count):
    """Add nodes one by one, as a listing of a bare-metal cloud does."""
    tree = provider_tree.ProviderTree()
    for number in range(count):
        tree.populate_from_iterable(
            [{'uuid': uuid_of(number), 'name': f'node-{number}'}]
        )
    return tree


def contents(tree):
    return {
        (one.uuid, one.name, one.parent_uuid)
        for one in map(tree.data, tree.get_provider_uuids())
    }


# --- what it costs ------------------------------------------------------------


@pytest.mark.catches('a provider is searched for')
def test_twice_the_nodes_are_twice_the_work():
    """Thousands of nodes must not be compared with each other."""
    half, whole = lines(lambda: roots(MANY)), lines(lambda: roots(2 * MANY))
    with verdict():
        assert whole < 2.1 * half


@pytest.mark.catches("a node's cycle copies all nodes")
def test_twice_the_nodes_are_twice_the_work_of_a_cycle(bench):
    """What one node costs must not depend on how many others there are."""

    def idle(count):
        agent = bench.agent(
            lambda tree, node: tree.declare_traits(node, 'HW_CPU_X86_AVX'),
            nodes={uuid_of(n): f'node-{n}' for n in range(count)},
        )
        agent.done()
        return lines(agent.done)

    half, whole = idle(16), idle(32)
    with verdict():
        assert whole < 2.1 * half


# --- what it does not let in --------------------------------------------------


def refusal(edit):
    """Return what an edit is refused with, None if it is not."""
    try:
        edit()
    except ValueError as exc:
        return exc
    return None


@pytest.mark.catches('a name may be there twice')
def test_two_roots_of_one_name_are_refused():
    """One of them could not be found, nor removed, by its name."""
    tree = provider_tree.ProviderTree()
    tree.new_root('node', uuid_of(1))
    before = contents(tree)
    exc = refusal(lambda: tree.new_root('node', uuid_of(2)))
    with verdict():
        assert exc is not None
        assert 'node' in str(exc)
        assert contents(tree) == before
    tree.remove('node')
    assert tree.get_provider_uuids() == []


@pytest.mark.catches('a name may be there twice')
def test_two_children_of_one_name_are_refused():
    """Also when they come with uuids of their own, and below two parents."""
    tree = roots(2)
    tree.new_child('numa0', 'node-0', uuid_of(11))
    before = contents(tree)
    exc = refusal(lambda: tree.new_child('numa0', 'node-1', uuid_of(12)))
    with verdict():
        assert exc is not None
        assert contents(tree) == before


@pytest.mark.catches('what is right of a wrong input is taken over')
def test_a_ring_changes_nothing():
    """What else came with it must not be there, for the caller failed."""
    tree = roots(1)
    before = contents(tree)
    given = [
        {'uuid': uuid_of(21), 'name': 'fine'},
        {
            'uuid': uuid_of(22),
            'name': 'one',
            'parent_provider_uuid': uuid_of(23),
        },
        {
            'uuid': uuid_of(23),
            'name': 'two',
            'parent_provider_uuid': uuid_of(22),
        },
    ]
    exc = refusal(lambda: tree.populate_from_iterable(given))
    assert exc is not None
    with verdict():
        assert contents(tree) == before


@pytest.mark.catches('no inventory at all is taken for an empty one')
def test_an_inventory_that_is_none_is_refused():
    """Unknown is not empty; and the driver is told what to give."""
    tree = roots(1)
    tree.update_inventory('node-0', {'VCPU': {'total': 8}})
    exc = refusal(lambda: tree.update_inventory('node-0', None))
    with verdict():
        assert exc is not None
        assert 'resource class' in str(exc)
        assert tree.has_inventory('node-0')
