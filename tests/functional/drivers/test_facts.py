# SPDX-License-Identifier: Apache-2.0
"""A driver that gives facts is asked to describe where something moved."""

import dataclasses

import agents
import pytest
from agents import NAME, NODE

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status
from compute_agent.limits import contention
from compute_agent.ownership.policy import Orders
from compute_agent.provider_config import files as provider_config_files
from compute_agent.virt.drivers import Drivers

OTHER = '22222222-2222-4222-8222-222222222222'
NODES = {NODE: NAME, OTHER: 'node-2'}
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
ALLOWED = Orders(takes_over=True)
MASKED = Orders(masked=['HW_CPU_X86_AVX'], takes_over=True)
FILE = """
meta: {schema_version: '1.0'}
providers:
- identification: {uuid: $COMPUTE_NODE}
  traits: {additional: [CUSTOM_FILED]}
"""


class Driver(agents.Driver):
    """Describes each node by its facts: traits, and how many VCPUs.

    :ivar described: the nodes it was asked to describe
    :ivar asked: the nodes it was asked for the facts of
    """

    def __init__(self, nodes=NODES):
        super().__init__(self._describe, nodes=nodes)
        self.known = {name: (['HW_CPU_X86_AVX'], 8) for name in NODES.values()}
        self.described = []
        self.asked = []

    def facts(self, nodename):
        self.asked.append(nodename)
        traits, total = self.known[nodename]
        return [*traits], total  # equal, and never the same

    def _describe(self, tree, node):
        self.described.append(node)
        traits, total = self.known[node]
        tree.update_traits(node, traits)
        tree.update_inventory(node, {'VCPU': {'total': total}})


@pytest.fixture
def driver():
    return Driver()


@pytest.fixture
def agent(agent_factory, driver):
    """An agent of two nodes, after as many cycles as it needs to be quiet."""
    made = agent_factory(driver)
    for _ in range(3):
        made.done()
    driver.described.clear()
    return made


def test_where_nothing_moves_nothing_is_described(agent, driver, placement):
    placement.clear()
    for _ in range(3):
        results = agent.done()
        assert [r.plan.operations for r in results] == [(), ()]
    assert driver.described == []
    assert len(placement.requests) == 3


def test_a_driver_without_facts_describes_in_each_cycle(agent, driver):
    driver.facts = lambda _nodename: None
    agent.done()
    agent.done()
    assert driver.described == [NAME, 'node-2'] * 2


def test_facts_are_asked_for_once_in_a_cycle(agent, driver):
    driver.known[NAME] = (['HW_CPU_X86_AVX2'], 8)
    driver.asked.clear()
    agent.done()
    assert sorted(driver.asked) == sorted(NODES.values())


def test_an_unchanged_node_counts_as_finished(agent, driver):
    driver.known[NAME] = (['HW_CPU_X86_AVX2'], 8)
    told = []
    results = agent.tracker.sync(lambda *numbers: told.append(numbers))
    assert sorted(told) == [(2, 0), (2, 1)]
    assert [str(r.node) for r in results] == [
        f'{NAME} ({NODE})',
        f'node-2 ({OTHER})',
    ]
    assert [len(r.applied) for r in results] == [1, 0]


def test_an_agent_that_lost_its_share_says_so_of_unchanged_nodes(
    agent_factory, driver
):
    is_lost = []

    def may_begin():
        if is_lost:
            raise errors.Deposed('another agent reports the share')

    agent = agent_factory(driver, may_begin=may_begin)
    for _ in range(3):
        agent.done()
    is_lost.append(True)
    assert [r.untried for r in agent.sync()] == [True, True]


@pytest.mark.catches('the authority of drivers is asked for once and for all')
def test_another_authority_is_planned_while_the_facts_are_the_same(
    agent_factory, driver, operator
):
    agent = agent_factory(driver)
    driver.describe = lambda tree, node: (
        driver.described.append(node),
        tree.declare_traits(node, *driver.known[node][0]),
    )
    agent.done()
    operator.add_traits('HW_NIC_SRIOV')
    for _ in range(3):
        agent.done()
    assert 'HW_NIC_SRIOV' in operator.traits()
    driver.described.clear()
    driver._authority = ('HW_NIC_*',)
    agent.done()
    assert sorted(driver.described) == sorted(NODES.values())
    assert 'HW_NIC_SRIOV' not in operator.traits()
    for _ in range(2):
        driver.described.clear()
        agent.done()
    assert driver.described == []


def test_the_authority_is_read_once_for_nodes_that_are_as_before(
    agent, driver, monkeypatch
):
    read = []
    monkeypatch.setattr(
        Driver, 'authority', property(lambda _self: read.append(1) or ())
    )
    agent.done()
    assert len(read) == 1


def test_an_authority_that_fails_once_has_no_node_described(
    agent_factory, monkeypatch
):
    first, second = Driver(), Driver()
    second.describe = lambda *_any: None
    agent = agent_factory(Drivers({'a': first, 'b': second}))
    for _ in range(4):
        agent.done()
    failures = [RuntimeError('the card does not answer')]

    def authority(self):
        if self is second and failures:
            raise failures.pop()
        return ()

    first.described.clear()
    monkeypatch.setattr(Driver, 'authority', property(authority))
    agent.sync()
    assert not failures
    assert first.described == []


def test_nodes_with_the_same_rules_share_them(agent, driver):
    driver.known = dict.fromkeys(driver.known, (['HW_CPU_X86_AVX2'], 8))
    for _ in range(2):
        agent.done()
    plans = agent.tracker._planner._empty_plans
    one, other = plans.last(NODE).basis, plans.last(OTHER).basis
    assert one.policy is other.policy


@pytest.mark.catches('equal policies are shared whatever nodes they name')
def test_contended_items_name_the_nodes_of_now(agent):
    planner = agent.tracker._planner
    where = planner._nodes.listed[0]
    for nodes in [(), (NAME, 'node-2'), ()]:
        item = contention.Item(uuid=NODE, kind=None, nodes=nodes)
        made = planner._policies.of(where, frozenset({item}), {})
        assert [each.nodes for each in made.contended] == [nodes]


def test_orders_for_one_node_reach_no_other(agent, driver, operator):
    """The two nodes have the same driver, and had the same policy."""
    planner = agent.tracker._planner
    planner._settings = dataclasses.replace(
        planner._settings,
        orders=lambda: lambda node: MASKED if node.name == NAME else ALLOWED,
    )
    agent.done()
    assert 'HW_CPU_X86_AVX' not in operator.traits()
    assert 'HW_CPU_X86_AVX' in operator.traits(OTHER)
    driver.described.clear()
    for _ in range(2):
        agent.done()
    assert driver.described.count('node-2') == 0


def test_the_result_of_an_unchanged_node_is_kept(agent, driver):
    before = agent.done()
    again = agent.done()
    assert [a is b for a, b in zip(again, before, strict=True)] == [True] * 2
    driver.known[NAME] = (['HW_CPU_X86_AVX2'], 8)
    later = agent.done()
    assert [a is b for a, b in zip(later, before, strict=True)] == [
        False,
        True,
    ]


def test_the_results_of_the_others_are_kept_in_a_cycle_of_some(agent):
    before = agent.done()
    (source,) = agent.tracker._nodes._answers
    for names in ([], [NAME]):
        agent.tracker.sync_changed({source: frozenset(names)})
        again = agent.done()
        assert [a is b for a, b in zip(again, before, strict=True)] == [
            True
        ] * 2


@pytest.mark.catches('the result of an unchanged node keeps its old title')
def test_another_title_is_in_the_result(agent, driver, monkeypatch):
    agent.done()
    monkeypatch.setattr(Driver, 'get_titles', lambda _self: {NAME: 'rack 1'})
    result, _ = agent.done()
    assert result.node.called == 'rack 1'


@pytest.mark.catches('changed driver facts are ignored')
@pytest.mark.parametrize(
    'facts', [(['HW_CPU_X86_AVX2'], 8), (['HW_CPU_X86_AVX'], 9), ([], 8)]
)
def test_other_facts_are_described(agent, driver, operator, facts):
    driver.known[NAME] = facts
    agent.done()
    assert driver.described == [NAME]
    assert set(facts[0]) <= operator.traits()
    assert ('HW_CPU_X86_AVX' in operator.traits()) is (
        'HW_CPU_X86_AVX' in facts[0]
    )
    assert operator.inventories()['VCPU']['total'] == facts[1]


def test_facts_that_come_back_are_described(agent, driver, operator):
    before = driver.known[NAME]
    driver.known[NAME] = (['HW_CPU_X86_AVX2'], 8)
    agent.done()
    driver.known[NAME] = before
    agent.done()
    assert driver.described == [NAME, NAME]
    assert 'HW_CPU_X86_AVX2' not in operator.traits()


def test_what_another_changed_is_described(agent, driver, operator):
    operator.remove_traits('HW_CPU_X86_AVX')
    agent.done()
    assert NAME in driver.described
    assert 'node-2' not in driver.described
    assert 'HW_CPU_X86_AVX' in operator.traits()


def test_an_allocation_is_looked_at_and_then_it_is_quiet_again(
    agent, driver, operator
):
    operator.allocate(CONSUMER, 'VCPU')
    for _ in range(3):
        agent.done()
    driver.described.clear()
    agent.done()
    assert driver.described == []


def test_a_failure_in_between_is_not_forgotten(agent, driver):
    """What was known before it does not count after it."""
    before = driver.known[NAME]
    driver.known[NAME] = (['no trait'], 8)
    (failed, _) = agent.sync()
    assert failed.status is Status.FAILED
    driver.known[NAME] = before
    driver.described.clear()
    agent.done()
    assert driver.described == [NAME]


def test_facts_that_fail_are_the_node_s_failure(agent, driver, operator):
    def facts(nodename):
        if nodename == NAME:
            raise KeyError(nodename)

    driver.facts = facts
    failed, other = agent.sync()
    assert failed.status is Status.FAILED
    assert 'Driver failed for node-1' in failed.reason
    assert other.status is Status.DONE


@pytest.mark.catches(
    "reloaded files are ignored while the driver's facts are the same"
)
def test_files_that_are_reloaded_are_merged(
    agent_factory, driver, operator, tmp_path
):
    files = provider_config_files.ProviderConfigFiles(
        lambda: (str(tmp_path), True)
    )
    agent = agent_factory(driver, files=files)
    for _ in range(3):
        agent.done()
    (tmp_path / 'one.yaml').write_text(FILE)
    files.reload()
    agent.done()
    assert 'CUSTOM_FILED' in operator.traits()
    for _ in range(2):
        agent.done()
    driver.described.clear()
    agent.done()
    assert driver.described == []
    assert [f.trait for f in files.evidence(NODE)] == ['CUSTOM_FILED']
    (tmp_path / 'one.yaml').unlink()
    files.reload()
    agent.done()
    assert 'CUSTOM_FILED' not in operator.traits()


def test_another_agent_s_memory_is_not_shared(agent_factory, agent, driver):
    again = agent_factory(driver, state=agent.state)
    again.done()
    assert driver.described == [NAME, 'node-2']


def test_a_node_that_left_and_came_back_is_described(agent, driver):
    del driver.nodes[OTHER]
    agent.sync()
    driver.nodes[OTHER] = 'node-2'
    driver.described.clear()
    agent.done()
    assert driver.described == ['node-2']


def test_a_driver_error_of_facts_is_said_as_it_is(agent, driver):
    def facts(nodename):
        raise errors.DriverError(f'{nodename}: not now')

    driver.facts = facts
    failed, _ = agent.sync()
    assert failed.reason == 'node-1: not now'
