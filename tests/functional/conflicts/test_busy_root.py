# SPDX-License-Identifier: Apache-2.0
"""Other writers change one provider all the time; its tree is done even so."""

import itertools

import pytest
from agents import NODE, meddle

from compute_agent.cycle import resource_tracker

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
Status = resource_tracker.Status


def child(number):
    """Return the uuid of a child."""
    return f'33333333-3333-4333-8333-{number:012}'


def tree(children, vcpus=4, traits=(), memory=4096):
    """Return a description of a root with so many children."""

    def describe(tree, node):
        tree.update_inventory(node, {'MEMORY_MB': {'total': memory}})
        tree.update_traits(node, traits)
        for number in range(children):
            uuid = child(number)
            if not tree.exists(uuid):
                tree.new_child(f'numa{number}', node, uuid)
            tree.update_inventory(uuid, {'VCPU': {'total': vcpus}})
            tree.update_traits(uuid, traits)

    return describe


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr('time.sleep', lambda _: None)


@pytest.fixture
def busy(placement, operator):
    """Let somebody allocate from the root before every so many requests."""
    numbers = itertools.count(1)

    def allocate():
        consumer = f'cccccccc-cccc-4ccc-8ccc-{next(numbers):012}'
        operator.allocate(consumer, 'MEMORY_MB')

    def busy(every):
        turns = itertools.count(1)

        def hook(_request):
            if next(turns) % every == 0:
                allocate()

        placement.before_request(hook)

    return busy


# At 30 ms a request, the seventh one is 0.2 s after the first.
@pytest.mark.parametrize(
    ('every', 'stored'),
    [
        (9, True),
        pytest.param(7, True, marks=pytest.mark.long),
        pytest.param(7, False, marks=pytest.mark.long),
        pytest.param(6, True, marks=pytest.mark.long),
    ],
)
def test_with_forty_children_one_sync_is_enough(
    placement, agent_factory, operator, busy, every, stored
):
    agent = agent_factory(tree(40))
    agent.done()
    if not stored:
        agent = agent_factory(tree(40))  # it reads all providers first
    agent.driver.describe = tree(40, 8, ['HW_CPU_X86_AVX'], 8192)
    placement.clear()
    busy(every)
    agent.done()
    placement.mend()
    for uuid in (NODE, *map(child, range(40))):
        assert 'HW_CPU_X86_AVX' in operator.traits(uuid)
    for number in range(40):
        assert operator.inventories(child(number))['VCPU']['total'] == 8
    assert operator.inventories()['MEMORY_MB']['total'] == 8192
    agent.done()  # it reads the root's last allocations
    placement.clear()
    agent.done()
    assert placement.writes == []


def cost(placement, agent_factory, operator, children, before, after, match):
    """Return how many more requests a cycle sends because of a conflict."""
    counts = []
    for act in (None, True):
        placement.reset()
        agent = agent_factory(before)
        agent.done()
        agent.driver.describe = after
        placement.clear()
        if act is not None:
            meddle(
                placement, lambda: operator.set_aggregates(AGGREGATE), match
            )
        agent.done()
        counts.append(len(placement.requests))
        placement.mend()
    calm, disturbed = counts
    return disturbed - calm


CASES = {
    'traits': (tree, {'traits': ['HW_CPU_X86_AVX']}, 'traits'),
    'both': (tree, {'traits': ['HW_CPU_X86_AVX'], 'memory': 8192}, 'traits'),
    'less': (tree, {'memory': 2048}, 'inventories'),
}


@pytest.mark.parametrize(
    'children', [3, pytest.param(40, marks=pytest.mark.long)]
)
@pytest.mark.parametrize('method', ['GET', 'PUT'])
@pytest.mark.parametrize('case', CASES)
def test_a_conflict_costs_at_most_six_requests_whatever_the_tree(
    placement, agent_factory, operator, children, method, case
):
    """The list, three reads, and the write; with consumers where it shrinks."""
    make, change, part = CASES[case]
    extra = cost(
        placement,
        agent_factory,
        operator,
        children,
        make(children),
        make(children, 8, **change),
        f'{method} /resource_providers/{NODE}/{part}',
    )
    assert 0 < extra <= 6


def test_what_changed_again_is_read_and_nothing_else(
    placement, agent_factory, operator
):
    agent = agent_factory(tree(3))
    agent.done()
    agent.driver.describe = tree(3, 8, ['HW_CPU_X86_AVX'])
    placement.clear()
    meddle(
        placement,
        lambda: operator.set_aggregates(AGGREGATE),
        f'PUT /resource_providers/{NODE}/traits',
    )
    agent.done()
    refused = [r.status for r in placement.requests].index(409)
    after = [str(r) for r in placement.requests[refused + 1 :]]
    listed = f'GET /resource_providers?in_tree={NODE}'
    again = after[after.index(listed) :]
    assert all(NODE in request for request in again[:4]), again
    assert [r for r in again if child(0) in r or child(2) in r] == []
    assert [r for r in after if r.startswith('GET') and child(0) in r] == [
        f'GET /resource_providers/{child(0)}/{part}'
        for part in ('traits', 'inventories')
    ]


def test_each_part_is_read_just_before_it_is_written(
    placement, agent_factory, operator
):
    agent = agent_factory(tree(2))
    agent.done()
    agent.driver.describe = tree(2, 8, ['HW_CPU_X86_AVX'])
    placement.clear()
    agent.done()
    requests = [str(r) for r in placement.requests]
    for number, request in enumerate(requests):
        if request.startswith('PUT'):
            assert requests[number - 1] == request.replace('PUT', 'GET')


def test_no_capacity_grows_before_the_traits_that_met_a_conflict(
    placement, agent_factory, operator
):
    agent = agent_factory(tree(2))
    agent.done()
    agent.driver.describe = tree(2, 8, ['HW_CPU_X86_AVX'])
    placement.clear()
    traits = f'/resource_providers/{child(0)}/traits'
    meddle(
        placement,
        lambda: operator.set_aggregates(AGGREGATE, uuid=child(0)),
        f'PUT {traits}',
    )

    def check(request):
        if str(request) == f'PUT /resource_providers/{child(0)}/inventories':
            assert 'HW_CPU_X86_AVX' in operator.traits(child(0))

    placement.before_request(check)
    (result,) = agent.done()
    writes = [str(r) for r in placement.writes]
    other = f'PUT /resource_providers/{child(1)}/inventories'
    assert writes.index(other) < len(writes) - 1 - writes[::-1].index(
        f'PUT {traits}'
    )
    assert operator.inventories(child(0))['VCPU']['total'] == 8
    assert len(result.applied) == 5


@pytest.mark.catches('a conflict does not keep capacity from moving twice')
def test_capacity_is_not_offered_twice_while_it_moves(
    placement, agent_factory, operator
):
    """The root gives up classes that its children get."""

    def describe(root, below):
        def describe(tree, node):
            tree.update_inventory(
                node, {'VCPU': {'total': root}, 'MEMORY_MB': {'total': 64}}
            )
            if not tree.exists(child(0)):
                tree.new_child('numa0', node, child(0))
            tree.update_inventory(
                child(0), {'VCPU': {'total': below}, 'DISK_GB': {'total': 1}}
            )

        return describe

    agent = agent_factory(describe(8, 1))
    agent.done()
    agent.driver.describe = describe(1, 8)
    meddle(
        placement,
        lambda: operator.set_aggregates(AGGREGATE),
        f'PUT /resource_providers/{NODE}/inventories',
    )

    def check(_request):
        offered = [
            operator.inventories(uuid)['VCPU']['total']
            for uuid in (NODE, child(0))
        ]
        assert sum(offered) <= 9

    placement.before_request(check)
    agent.done()
    assert operator.inventories(child(0))['VCPU']['total'] == 8
    assert operator.inventories()['VCPU']['total'] == 1


@pytest.mark.catches('a conflict stops the plan of the whole tree')
def test_what_was_done_beside_a_conflict_stays_recorded_as_done(
    placement, agent_factory, operator
):
    """The root never holds still; the children's names are ours even so."""
    agent = agent_factory(tree(2))
    agent.done()
    agent.driver.describe = tree(2, 8, ['CUSTOM_A'])
    numbers = itertools.count()

    def hook(request):
        if request.path == f'/resource_providers/{NODE}/traits':
            operator.change_inventory('MEMORY_MB', reserved=next(numbers))

    placement.before_request(hook)
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert NODE in result.reason
    assert len(result.applied) == 5  # the name, and four for the children
    ours = agent.state.records.record([child(0), child(1)], NODE).ours
    assert sum('CUSTOM_A' in names for names in ours.values()) == 2
    placement.mend()
    agent.driver.describe = tree(2, 8)
    agent.done()
    assert 'CUSTOM_A' not in operator.traits(child(0)) | operator.traits()


def test_several_conflicts_in_one_plan_are_one_more_plan(
    placement, agent_factory, operator, caplog
):
    agent = agent_factory(tree(5))
    agent.done()
    agent.driver.describe = tree(5, 8)
    left = {child(1), child(3)}

    def hook(request):
        uuid = request.path.split('/')[2] if request.method == 'PUT' else ''
        if uuid in left:
            left.remove(uuid)
            operator.set_aggregates(AGGREGATE, uuid=uuid)

    placement.before_request(hook)
    caplog.set_level('INFO')
    placement.clear()
    agent.done()
    lists = [r for r in placement.requests if 'in_tree' in r.path]
    assert len(lists) == 2
    (line,) = [
        record.getMessage()
        for record in caplog.records
        if 'another writer' in record.getMessage()
    ]
    assert 'planned 2 times' in line
    assert f'numa1 ({child(1)}), numa3 ({child(3)})' in line


def test_a_dry_run_plans_again_if_a_part_is_not_as_remembered(
    placement, agent_factory, operator
):
    """The shown plan is the one that sync would send."""
    agent = agent_factory(tree(1))
    agent.done()
    generation = operator.generation(child(0))
    operator.delete(child(0))
    operator.create(child(0), 'numa0', NODE)
    operator.set_inventories({'VCPU': {'total': 2}}, child(0))
    while operator.generation(child(0)) < generation:
        operator.set_inventories({'VCPU': {'total': 2}}, child(0))
    agent.driver.describe = tree(1, 8)
    (planned,) = agent.plan()
    before = [op.before for op in planned.plan.operations]
    assert [b['VCPU'].total for b in before if 'VCPU' in b] == [2]
    assert agent.cycle().applied == planned.plan.operations


def test_a_provider_that_is_gone_stops_what_is_below_it_only(
    placement, agent_factory, operator
):
    agent = agent_factory(tree(3))
    agent.done()
    agent.driver.describe = tree(3, 8, ['HW_CPU_X86_AVX'])
    meddle(
        placement,
        lambda: operator.delete(child(1)),
        f'PUT /resource_providers/{child(1)}/traits',
    )
    agent.done()
    for number in range(3):
        assert 'HW_CPU_X86_AVX' in operator.traits(child(number))
        assert operator.inventories(child(number))['VCPU']['total'] == 8
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}
