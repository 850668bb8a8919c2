# SPDX-License-Identifier: Apache-2.0
"""Trees: what they cost, and what they do not let in."""

import sys
import uuid as uuidlib

from gauntlet import Plant, Variant, against, verdict

from compute_agent import errors
from compute_agent.tree import hierarchy, inventory_records, provider_tree
from report_client import client

MANY = 200


def uuid_of(number):
    return str(uuidlib.UUID(int=number + 1))


def lines(work):
    """Return how many lines of the product are run while this is done."""
    count = 0

    def note(frame, event, _argument):
        package = frame.f_globals.get('__name__', '').partition('.')[0]
        if package not in {'compute_agent', 'report_client', 'tests'}:
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


def _searches(self, name_or_uuid):
    """Look through all members, one by one."""
    for member in self._members.values():
        if name_or_uuid in (member.uuid, member.name):
            return True
    return False


@against(
    Variant(
        'a provider is searched for',
        Plant(hierarchy.Hierarchy.__contains__, _searches),
    )
)
def test_twice_the_nodes_are_twice_the_work(bench):
    """Thousands of nodes must not be compared with each other."""
    del bench
    half, whole = lines(lambda: roots(MANY)), lines(lambda: roots(2 * MANY))
    with verdict():
        assert whole < 2.1 * half


class _BuildsAll(client.SchedulerReportClient):
    """Builds every node's tree for each node."""

    def observe(self, *args, **kwargs):
        self._all = super().observe(*args, **kwargs)
        return self._all

    def plan(self, *args, **kwargs):
        for seen in self._all.values():
            seen.tree()
        return super().plan(*args, **kwargs)


@against(
    Variant(
        "a node's cycle copies all nodes",
        Plant(client.SchedulerReportClient, _BuildsAll),
    )
)
def test_twice_the_nodes_are_twice_the_work_of_a_cycle(bench):
    """What one node costs must not depend on how many others there are."""

    def idle(count):
        agent = bench.agent(
            lambda tree, node: tree.declare_traits(node, 'HW_CPU_X86_AVX'),
            nodes={uuid_of(n): f'node-{n}' for n in range(count)},
        )
        agent.done()
        return lines(agent.done)

    half, whole = idle(4), idle(8)
    with verdict():
        assert whole < 2.1 * half


# --- what it does not let in --------------------------------------------------


def _takes_any_name(self, member):
    """Insert a member, looking at uuids alone."""
    if member.uuid in self._members:
        raise errors.TreeError(f'Provider {member.uuid} already exists')
    self._members[member.uuid] = member
    self._uuids[member.name] = member.uuid
    if member.parent is not None:
        self._members[member.parent].children.append(member.uuid)


def _half_at_a_time(self, given):
    """Put members in as their parents are found; stop when none is."""
    waiting = list(given)
    while waiting:
        ready = [
            m for m in waiting if m.parent is None or m.parent in self._members
        ]
        if not ready:
            raise errors.TreeError('would be in a cycle')
        for member in ready:
            waiting.remove(member)
            self.insert(member)
    return []


TAKES_ANY_NAME = Variant(
    'a name may be there twice',
    Plant(hierarchy.Hierarchy.insert, _takes_any_name),
)
HALF_AT_A_TIME = Variant(
    'what is right of a wrong input is taken over',
    Plant(hierarchy.Hierarchy.replace, _half_at_a_time),
)


def refusal(edit):
    """Return what an edit is refused with, None if it is not."""
    try:
        edit()
    except ValueError as exc:
        return exc
    return None


@against(TAKES_ANY_NAME)
def test_two_roots_of_one_name_are_refused(bench):
    """One of them could not be found, nor removed, by its name."""
    del bench
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


@against(TAKES_ANY_NAME)
def test_two_children_of_one_name_are_refused(bench):
    """Also when they come with uuids of their own, and below two parents."""
    del bench
    tree = roots(2)
    tree.new_child('numa0', 'node-0', uuid_of(11))
    before = contents(tree)
    exc = refusal(lambda: tree.new_child('numa0', 'node-1', uuid_of(12)))
    with verdict():
        assert exc is not None
        assert contents(tree) == before


@against(HALF_AT_A_TIME)
def test_a_ring_changes_nothing(bench):
    """What else came with it must not be there, for the caller failed."""
    del bench
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


def _unchecked(records):
    return {rc: dict(records[rc]) for rc in records or ()}


@against(
    Variant(
        'no inventory at all is taken for an empty one',
        Plant(inventory_records.check, _unchecked),
    )
)
def test_an_inventory_that_is_none_is_refused(bench):
    """Unknown is not empty; and the driver is told what to give."""
    del bench
    tree = roots(1)
    tree.update_inventory('node-0', {'VCPU': {'total': 8}})
    exc = refusal(lambda: tree.update_inventory('node-0', None))
    with verdict():
        assert exc is not None
        assert 'resource class' in str(exc)
        assert tree.has_inventory('node-0')
