# SPDX-License-Identifier: Apache-2.0
"""What many nodes lose at once is kept, and everything else is written."""

import dataclasses

import pytest
from agents import NODE, Driver

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
RACK = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(10)}
UUIDS = list(RACK)
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
STALE = (409, {'errors': [{'code': 'placement.concurrent_update'}]})
MANY = [f'CUSTOM_TRAIT_{n}' for n in range(60)]


@dataclasses.dataclass
class World:
    """What the driver says of its nodes; ``losing`` have it otherwise."""

    losing: tuple = ()
    has: dict = dataclasses.field(default_factory=dict)
    had: dict = dataclasses.field(
        default_factory=lambda: {
            'traits': ['CUSTOM_GOLD'],
            'aggregates': [AGGREGATE],
            'inventory': {'VCPU': {'total': 64}, 'VGPU': {'total': 2}},
            'children': ['numa0', 'numa1'],
        }
    )

    def describe(self, tree, node):
        said = self.had
        if node in self.losing:
            said = {**self.had, **self.has}
        tree.update_inventory(node, said['inventory'])
        tree.update_traits(node, said['traits'])
        tree.update_aggregates(node, said['aggregates'])
        wanted = {f'{node}-{child}' for child in said['children']}
        for uuid in tree.get_provider_uuids(node)[1:]:
            if tree.data(uuid).name not in wanted:
                tree.remove(uuid)
        for name in sorted(wanted):
            if not tree.exists(name):
                tree.new_child(name, node)
            tree.update_inventory(name, {'MEMORY_MB': {'total': 512}})


@pytest.fixture
def world():
    return World()


@pytest.fixture
def rack(world):
    return Driver(world.describe, nodes=RACK, missing=virt.Existence.NO)


def lose(world, count, **has):
    """Let the first nodes have less."""
    world.losing = tuple(list(RACK.values())[:count])
    world.has = has


def held(result, what, status=Status.WAITING):
    """Return True if a result says that these removals wait, and why."""
    assert result.status is status, result
    assert what in result.reason
    assert '[compute_agent] max_removed_percent' in result.reason
    assert 'compute-agent approve' in result.reason
    return True


LOSSES = {
    'traits': (
        {'traits': ['CUSTOM_NEW']},
        'remove trait CUSTOM_GOLD from node-0',
    ),
    'aggregates': (
        {'aggregates': [], 'traits': ['CUSTOM_GOLD', 'CUSTOM_NEW']},
        f'remove aggregate {AGGREGATE} from node-0',
    ),
    'class': (
        {
            'inventory': {'VCPU': {'total': 64}},
            'traits': ['CUSTOM_GOLD', 'CUSTOM_NEW'],
        },
        'lower VGPU of node-0',
    ),
    'total': (
        {
            'inventory': {'VCPU': {'total': 4}, 'VGPU': {'total': 2}},
            'traits': ['CUSTOM_GOLD', 'CUSTOM_NEW'],
        },
        'lower VCPU of node-0',
    ),
    'children': (
        {'children': [], 'traits': ['CUSTOM_GOLD', 'CUSTOM_NEW']},
        'delete node-0-numa0',
    ),
}
KEPT = {
    'traits': lambda one: 'CUSTOM_GOLD' in one['node-0']['traits'],
    'aggregates': lambda one: one['node-0']['aggregates'] == {AGGREGATE},
    'class': lambda one: 'VGPU' in one['node-0']['inventories'],
    'total': lambda one: one['node-0']['inventories']['VCPU']['total'] == 64,
    'children': lambda one: 'node-0-numa0' in one and 'node-0-numa1' in one,
}


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize('case', LOSSES)
@pytest.mark.parametrize('workers', [1, 4])
@pytest.mark.catches(
    'any number of nodes may lose something at once', case='1-traits'
)
def test_what_many_nodes_lose_waits_and_all_else_is_written(
    placement, agent_factory, operator, rack, world, case, workers
):
    agent = agent_factory(rack, workers=workers)
    agent.done()
    has, what = LOSSES[case]
    lose(world, 3, **has)
    planned = agent.plan()
    assert all(
        held(r, what.replace('-0', f'-{n}')) for n, r in enumerate(planned[:3])
    )
    for _ in range(2):
        results = agent.sync()
        ends = [r.status for r in results]
        assert ends == [Status.WAITING] * 3 + [Status.DONE] * 7
        assert held(results[0], what)
        assert KEPT[case](operator.holdings())
        assert 'CUSTOM_NEW' in operator.traits(UUIDS[0])
    placement.clear()
    agent.sync()
    assert placement.writes == []

    agreed = agent_factory(rack, state=agent.state, max_removed_percent=None)
    agreed.done()
    assert not KEPT[case](operator.holdings())
    placement.clear()
    agent.done()
    assert placement.writes == []


@pytest.mark.parametrize('case', LOSSES)
def test_what_two_of_three_nodes_lose_is_written_at_once(
    agent_factory, operator, world, case
):
    """Two nodes are no mass, whatever their share."""
    nodes = dict(list(RACK.items())[:3])
    agent = agent_factory(Driver(world.describe, nodes=nodes))
    agent.done()
    lose(world, 2, **LOSSES[case][0])
    agent.done()
    assert not KEPT[case](operator.holdings())


def test_what_a_fifth_of_the_nodes_loses_is_written_at_once(
    agent_factory, operator, world
):
    nodes = {f'{n:08}{UUIDS[0][8:]}': f'node-{n}' for n in range(15)}
    agent = agent_factory(Driver(world.describe, nodes=nodes))
    agent.done()
    lose(world, 3, traits=[])
    agent.done()
    assert 'CUSTOM_GOLD' not in operator.traits(UUIDS[2])


def test_a_lone_host_never_waits(agent_factory, operator, world, caplog):
    agent = agent_factory(world.describe, nodes={NODE: 'node-0'})
    world.had['traits'] = MANY
    agent.done()
    child = operator.holdings()['node-0-numa1']['uuid']
    lose(
        world,
        1,
        traits=[],
        aggregates=[],
        inventory={'VCPU': {'total': 4}},
        children=['numa0'],
    )
    agent.done()
    assert operator.traits() == {'COMPUTE_NODE', 'OWNER_NOVA'}
    assert operator.inventories().keys() == {'VCPU'}
    assert operator.holdings().keys() == {'node-0', 'node-0-numa0'}
    (line,) = [r for r in caplog.records if r.levelname == 'WARNING']
    assert line.getMessage() == (
        f'node-0 ({NODE}): it offers less now, as its driver describes it: '
        f'VCPU 64→4, VGPU 2→0, without node-0-numa1 ({child}); if that is '
        'wrong, ask the driver with "compute-agent probe"'
    )


def test_a_limit_of_zero_leaves_every_removal_to_a_person(
    agent_factory, operator, world
):
    nodes = {NODE: 'node-0'}
    agent = agent_factory(world.describe, nodes=nodes, max_removed_percent=0)
    agent.done()
    lose(world, 1, traits=['CUSTOM_NEW'])
    assert held(agent.cycle(), 'remove trait CUSTOM_GOLD')
    assert {'CUSTOM_GOLD', 'CUSTOM_NEW'} <= operator.traits()


def test_a_limit_of_a_hundred_lets_everything_go(
    agent_factory, operator, rack, world
):
    agent = agent_factory(rack, max_removed_percent=100)
    agent.done()
    lose(world, 10, traits=[])
    agent.done()
    assert 'CUSTOM_GOLD' not in operator.traits(UUIDS[0])


# --- what a held removal leaves -----------------------------------------------


@pytest.mark.catches('what is held back is not reserved')
def test_to_reserve_never_waits(agent_factory, operator, rack, world):
    """Maintenance of all nodes at once."""
    agent = agent_factory(rack)
    agent.done()
    lose(
        world,
        10,
        inventory={'VCPU': {'total': 64, 'reserved': 64}},
        children=[],
    )
    assert held(agent.sync()[0], 'lower VGPU of node-0')
    root = operator.inventories(UUIDS[0])
    assert root['VCPU']['reserved'] == 64
    assert root['VGPU']['total'] == 2
    child = operator.holdings()['node-0-numa1']['inventories']['MEMORY_MB']
    assert child['reserved'] == child['total'] == 512


def test_a_smaller_total_that_is_held_keeps_the_other_fields(
    agent_factory, operator, rack, world
):
    agent = agent_factory(rack)
    agent.done()
    record = {'total': 4, 'reserved': 1, 'allocation_ratio': 2.0}
    lose(world, 3, inventory={'VCPU': record, 'VGPU': {'total': 3}})
    assert held(agent.sync()[0], 'lower VCPU of node-0')
    left = operator.inventories(UUIDS[0])
    assert left['VGPU']['total'] == 3
    assert (left['VCPU']['total'], left['VCPU']['reserved']) == (64, 1)
    assert left['VCPU']['allocation_ratio'] == 2.0


@pytest.mark.parametrize('rc', ['VCPU', 'PCPU'])
@pytest.mark.catches(
    'a class that replaces a held one is offered beside it', case='PCPU'
)
def test_half_of_a_move_is_not_made(agent_factory, operator, rc):
    """Where a root's class is held, no child gets it, or another in its place."""
    moved = False

    def describe(tree, node):
        root = {'MEMORY_MB': {'total': 512}}
        if moved:
            child = f'{node}-numa0'
            if not tree.exists(child):
                tree.new_child(child, node)
            tree.update_inventory(child, {rc: {'total': 8}})
        else:
            root['VCPU'] = {'total': 64}
        tree.update_inventory(node, root)

    agent = agent_factory(Driver(describe, nodes=RACK))
    agent.done()
    moved = True
    assert held(agent.sync()[0], 'lower VCPU of node-0')
    there = operator.holdings()
    assert there['node-0']['inventories']['VCPU']['total'] == 64
    assert there['node-0-numa0']['inventories'] == {}


def test_what_is_back_in_time_needs_nobody(
    placement, agent_factory, operator, rack, world
):
    agent = agent_factory(rack)
    agent.done()
    before = operator.holdings()
    lose(world, 10, traits=[], children=[])
    agent.sync()
    lose(world, 0)
    agent.done()
    assert operator.holdings() == before
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_a_part_of_what_was_lost_waits_also_when_the_rest_is_back(
    agent_factory, operator, rack, world
):
    agent = agent_factory(rack)
    agent.done()
    lose(world, 3, traits=[])
    agent.sync()
    lose(world, 2, traits=[])
    assert waiting(agent.sync()) == ['node-0', 'node-1']
    approve(agent, 'node-0')
    agent.sync()
    assert 'CUSTOM_GOLD' not in operator.traits(UUIDS[0])
    assert 'CUSTOM_GOLD' in operator.traits(UUIDS[1])
    assert 'CUSTOM_GOLD' in operator.traits(UUIDS[2])


def test_a_pool_that_all_nodes_describe_is_one_thing(agent_factory, operator):
    pool = '88888888-8888-4888-8888-888888888888'
    total = 1000

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.update_aggregates(node, {AGGREGATE})
        if not tree.exists('pool'):
            tree.new_root('pool', pool)
        tree.update_inventory('pool', {'DISK_GB': {'total': total}})
        tree.declare_traits('pool', 'MISC_SHARES_VIA_AGGREGATE')
        tree.declare_aggregates('pool', AGGREGATE)

    agent = agent_factory(Driver(describe, nodes=RACK))
    agent.sync()
    agent.done()
    total = 100
    agent.done()
    assert operator.inventories(pool)['DISK_GB']['total'] == 100


def test_a_refused_write_does_not_free_what_is_held(
    placement, agent_factory, operator, rack, world
):
    agent = agent_factory(rack)
    agent.done()
    lose(world, 3, children=[], traits=['CUSTOM_GOLD', 'CUSTOM_NEW'])
    placement.fault(f'PUT /resource_providers/{UUIDS[0]}/*', 400)
    result = agent.sync()[0]
    assert held(result, 'delete node-0-numa0', Status.FAILED)
    assert 'HTTP 400' in result.reason
    agent.sync()
    assert 'node-0-numa0' in operator.holdings()
    assert 'CUSTOM_NEW' in operator.traits(UUIDS[0])


def test_a_conflict_does_not_free_what_is_held(
    placement, agent_factory, operator, rack, world
):
    agent = agent_factory(rack)
    agent.done()
    lose(world, 3, traits=['CUSTOM_NEW'])
    placement.fault(f'PUT /resource_providers/{UUIDS[0]}/traits', STALE)
    assert held(agent.sync()[0], 'remove trait CUSTOM_GOLD')
    assert {'CUSTOM_GOLD', 'CUSTOM_NEW'} <= operator.traits(UUIDS[0])


def test_an_outage_between_the_two_steps_leaves_what_was_held(
    placement, agent_factory, operator, world
):
    agent = agent_factory(world.describe, nodes={NODE: 'node-0'})
    agent.done()
    lose(world, 1, traits=[])
    placement.fault('PUT *', 503)
    result = agent.cycle()
    assert result.outage
    agent.done()
    assert 'CUSTOM_GOLD' not in operator.traits()


def test_the_first_look_that_fails_is_no_reason_to_hold_back(
    placement, agent_factory, rack
):
    agent = agent_factory(rack)
    placement.fault('GET /resource_providers*', 500)
    with pytest.raises(errors.UnknownState):
        agent.sync()
    agent.done()


# --- a yes to some of a mass --------------------------------------------------


def approve(agent, *names):
    """Approve what waits on these nodes."""
    held = [r.held for r in agent.plan() if r.node.name in names]
    agent.state.approvals.grant(frozenset().union(*held), 'alice')


def waiting(results):
    return [r.node.name for r in results if r.held]


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize('case', [*LOSSES, 'departures'])
@pytest.mark.parametrize('restarts', [False, True])
@pytest.mark.catches(
    'the rest of a mass goes without a yes', case='False-traits'
)
def test_the_rest_of_a_mass_waits_however_few_are_left(
    agent_factory, operator, rack, world, case, restarts, tmp_path
):
    agent = agent_factory(rack, state=tmp_path)
    agent.done()
    if case == 'departures':
        rack.nodes = dict(list(RACK.items())[8:])
        kept = {case: lambda one: 'node-0' in one}
    else:
        lose(world, 8, **LOSSES[case][0])
        kept = KEPT
    some = [f'node-{n}' for n in range(8)]
    assert waiting(agent.sync()) == some
    approve(agent, *some[2:])
    agent.sync()
    for _ in range(2):
        if restarts:
            agent = agent_factory(rack, state=tmp_path)
        assert waiting(agent.plan()) == waiting(agent.sync()) == some[:2]
        assert kept[case](operator.holdings())
    approve(agent, *some[:2])
    agent.done()
    assert not kept[case](operator.holdings())


def test_nodes_of_a_mass_go_with_a_higher_limit_or_if_they_change_back(
    agent_factory, operator, rack, world, tmp_path
):
    agent = agent_factory(rack, state=tmp_path)
    agent.done()
    lose(world, 5, traits=[])
    agent.sync()
    approve(agent, 'node-2', 'node-3', 'node-4')
    agent.sync()
    lose(world, 1, traits=[])
    assert waiting(agent.sync()) == ['node-0']
    lose(world, 2, traits=[])
    assert waiting(agent.sync()) == ['node-0']
    assert 'CUSTOM_GOLD' not in operator.traits(UUIDS[1])
    agent = agent_factory(rack, state=tmp_path, max_removed_percent=50)
    agent.done()
    assert 'CUSTOM_GOLD' not in operator.traits(UUIDS[0])
