# SPDX-License-Identifier: Apache-2.0
"""Every request can be the last: the next start goes on from there.

Each scenario of ``tests/support/crash_scenarios.py`` is cut at each request in
turn: the agent is killed before placement sees it, killed after placement did
it, or lives on and only the answer is lost. What is left of a killed one is
its state database as it was at that moment. Two cycles later all is as if
nothing had been, also what the agent takes for its own; then nothing is
written.
"""

import contextlib
import dataclasses
import fnmatch
import itertools
import shutil

import crash_scenarios as scenarios
import crashing
import placement_replay
import pytest
import requests
import state_copy
from agents import AgentFactory
from crashing import Cut, Killed

from compute_agent import errors
from compute_agent.provider_config import files

AGGREGATE = scenarios.AGGREGATE
NUMA0 = scenarios.NUMA0
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
PUT_TRAITS = 'PUT /resource_providers/*/traits'
WAYS = {
    'killed before': (Killed, False),
    'killed after': (Killed, True),
    'answer lost': (requests.ReadTimeout, True),
}
MANY = 8  # requests
# Where a second cut, in the recovery from the first, is tried everywhere too.
TWICE = ('change', 'aggregates', 'a name is freed and used again')


@pytest.fixture(scope='module')
def cut_points(pytestconfig):
    """How many cuts each test tried, told at the end."""
    counts = {}
    yield counts
    reporter = pytestconfig.pluginmanager.getplugin('terminalreporter')
    capture = pytestconfig.pluginmanager.getplugin('capturemanager')
    with capture.global_and_fixture_disabled():
        reporter.write_line(
            f'\n{sum(counts.values())} cut points in {len(counts)} runs'
        )


class Theatre:
    """Where one scenario is played again and again."""

    def __init__(self, placement, operator, directory, name) -> None:
        self.scenario = scenarios.SCENARIOS[name]
        self._replay = placement_replay.Replay(placement)
        self._scissors = crashing.Scissors(self._replay)
        self._factory = AgentFactory(self._scissors)
        self._directory = directory
        self._driver = self._files = None
        self._left = None
        self._database = self._record = None
        self._replay.start(None)
        self._write(self.scenario.files[0])
        if self.scenario.before is not None:
            agent = self._agent(self.scenario.before, self.scenario.before)
            agent.done()
            self._database = self._replay.database()
            self.scenario.others(operator)
            self._database = placement.save()
            self._record = state_copy.copied(agent.state)
            agent.state.close()
        self._write(self.scenario.files[1])
        agent = self.play(None)
        self.sent = list(self._scissors.sent)
        self.goal = self._contents()
        self.end = self._end(agent)

    def play(self, cut, *more):
        """Play the cycle, and more of them, each cut; return the survivor."""
        self._replay.start(self._database)
        self._write(self.scenario.files[1])
        listed = self.scenario.nodes
        agent = self._agent(self.scenario.after, listed, self._record)
        for each in (cut, *more):
            agent = self._cycle(agent, each)
        return agent

    def check(self, agent, where) -> None:
        """Two cycles get there, a third has nothing to do."""
        for _ in range(2):
            with contextlib.suppress(errors.AgentError):
                agent.sync()
        self._scissors.arm()
        agent.sync()
        assert self._scissors.writes == [], where
        assert self._contents() == self.goal, where
        assert self._end(agent) == self.end, where

    def requests_of(self, agent, cut):
        """Return the requests of one more cycle, cut or not."""
        self._cycle(agent, cut)
        return list(self._scissors.sent)

    def _agent(self, describe, listed, record=None):
        nodes = {uuid: scenarios.BOTH[uuid] for uuid in listed}
        driver = scenarios.Host(
            describe, nodes=nodes, authority=self.scenario.authority
        )
        if self.scenario.marked:
            driver.node_filter = {}
        self._driver = driver
        return self._start(record)

    def _start(self, record):
        self._files = files.ProviderConfigFiles(
            lambda: (str(self._directory), True)
        )
        self._files.begin()
        return self._factory(
            self._driver,
            state=state_copy.opened(record),
            files=self._files,
        )

    def _write(self, content):
        """Let the operator's file be this, or be no more."""
        file = self._directory / 'operators.yaml'
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_text(content)

    def _cycle(self, agent, cut):
        self._scissors.arm(cut, lambda: self._keep(agent))
        try:
            agent.sync()
        except Killed:
            agent.state.close()
            return self._start(self._left)
        except errors.AgentError:
            pass
        return agent

    def _keep(self, agent) -> None:
        self._left = state_copy.copied(agent.state)

    def _end(self, agent):
        """Return what is left once nothing is wanted any more."""
        agent.driver.describe = scenarios.BARE
        self._write(None)
        self._files.reload()
        agent.sync()
        agent.state.close()
        return self._contents()

    def _contents(self):
        return {
            uuid: dataclasses.replace(held, generation=0)
            for uuid, held in self._replay.contents().items()
        }


@pytest.fixture
def theatre(placement, operator, monkeypatch, tmp_path):
    """Make the theatre of a scenario."""
    monkeypatch.setattr('time.sleep', lambda _: None)
    return lambda name: Theatre(placement, operator, tmp_path, name)


def _cuts(sent, way):
    """Return each cut of these requests that makes a difference."""
    kind, after = WAYS[way]
    return [
        Cut(number, after, kind)
        for number, request in enumerate(sent)
        if not (after and request.startswith('GET'))
    ]


def _each_in_one_way():
    """Yield each scenario in each way.

    In all ways but one it is long; with many requests to cut, in each way.
    """
    for turn, (name, scenario) in enumerate(scenarios.SCENARIOS.items()):
        for number, way in enumerate(WAYS):
            quick = number == turn % len(WAYS) and scenario.least < MANY
            mark = () if quick else pytest.mark.long
            yield pytest.param(name, way, marks=mark, id=f'{name}-{way}')


@pytest.mark.catches(
    'intents count as done before they are sent', case='change-killed before'
)
@pytest.mark.catches(
    'intents are not recorded before a write', case='first boot-killed before'
)
@pytest.mark.parametrize(('name', 'way'), list(_each_in_one_way()))
def test_wherever_it_is_cut_it_ends_in_the_same_state(
    theatre, cut_points, name, way
):
    played = theatre(name)
    cuts = _cuts(played.sent, way)
    for cut in cuts:
        agent = played.play(cut)
        played.check(agent, f'{name}: {cut}: {played.sent[cut.number]}')
    cut_points[name, way] = len(cuts)
    assert len(played.sent) >= played.scenario.least, played.sent
    assert len(cuts) >= 2, played.sent


@pytest.mark.long
@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('name', TWICE)
def test_a_recovery_may_be_cut_as_well(theatre, cut_points, name, way):
    played = theatre(name)
    count = 0
    for first in _cuts(played.sent, way):
        agent = played.play(first)
        recovery = played.requests_of(agent, None)
        agent.state.close()
        for second in _cuts(recovery, 'killed after'):
            where = f'{name}: {first}, then {second}'
            played.check(played.play(first, second), where)
            count += 1
    cut_points[name, way, 'twice'] = count
    assert count, played.sent


def tree(*children, traits=()):
    """Return a description of a tree."""

    def describe(tree, node):
        tree.declare_traits(node, *traits)
        tree.update_inventory(node, {'MEMORY_MB': {'total': 4096}})
        for uuid in children:
            if not tree.exists(uuid):
                tree.new_child(f'numa{uuid[-1]}', node, uuid)
            tree.update_inventory(uuid, {'VCPU': {'total': 4}})
            tree.declare_traits(uuid, 'HW_NUMA_ROOT', 'CUSTOM_NUMA')

    return describe


TREE = tree(NUMA0, traits=['HW_CPU_X86_AVX', 'CUSTOM_A'])


def test_what_cannot_be_told_apart_stays_and_is_said(
    placement, agent_factory, operator, tmp_path
):
    """Rule 1f: others wrote after the cut, so it may have been them."""
    state = tmp_path / 'state'
    agent = _ready(agent_factory, tree(), tree(traits=['CUSTOM_B']), state)
    left = _cut(placement, agent, state, 0, Killed, 'after', PUT_TRAITS)
    operator.add_traits('CUSTOM_OPERATOR')
    after = agent_factory(tree(traits=['CUSTOM_B']), state=left)
    (result,) = after.done()
    assert any('CUSTOM_B' in note for note in result.notes)
    after.driver.describe = tree()
    after.done()
    assert operator.traits() == {*OWN, 'CUSTOM_B', 'CUSTOM_OPERATOR'}


def test_a_write_that_never_arrived_is_not_ours_when_another_does_it(
    placement, agent_factory, operator, tmp_path
):
    state = tmp_path / 'state'
    agent = _ready(
        agent_factory, tree(), tree(traits=['HW_CPU_X86_AVX']), state
    )
    left = _cut(placement, agent, state, 0, Killed, 'before', PUT_TRAITS)
    after = agent_factory(tree(), state=left)
    after.done()
    operator.add_traits('HW_CPU_X86_AVX')
    after.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}


def test_the_same_set_written_by_another_counts_as_ours(
    placement, agent_factory, operator, tmp_path
):
    """Nothing in placement tells the two apart; see docs/ownership.md."""
    state = tmp_path / 'state'
    agent = _ready(
        agent_factory, tree(), tree(traits=['HW_CPU_X86_AVX']), state
    )
    left = _cut(placement, agent, state, 0, Killed, 'before', PUT_TRAITS)
    operator.set_aggregates(AGGREGATE)
    operator.set_aggregates()
    operator.add_traits('HW_CPU_X86_AVX')
    agent_factory(tree(), state=left).done()
    assert operator.traits() == OWN


def test_a_trait_is_ours_although_somebody_allocated_after_the_crash(
    placement, agent_factory, operator, tmp_path
):
    state = tmp_path / 'state'
    agent = _ready(agent_factory, tree(), tree(traits=['CUSTOM_B']), state)
    left = _cut(placement, agent, state, 0, Killed, 'after', PUT_TRAITS)
    operator.allocate(CONSUMER, 'MEMORY_MB')
    after = agent_factory(tree(traits=['CUSTOM_B']), state=left)
    (result,) = after.done()
    assert not result.notes
    after.driver.describe = tree()
    after.done()
    assert operator.traits() == OWN


def test_a_new_child_is_ours_although_somebody_allocated_after_the_crash(
    placement, agent_factory, operator, tmp_path
):
    state = tmp_path / 'state'
    agent = _ready(agent_factory, tree(), tree(NUMA0), state)
    inventory = f'PUT /resource_providers/{NUMA0}/inventories'
    left = _cut(placement, agent, state, 0, Killed, 'after', inventory)
    operator.allocate(CONSUMER, 'VCPU', NUMA0)
    after = agent_factory(tree(NUMA0), state=left)
    (result,) = after.done()
    assert not result.notes
    placement.delete(f'/allocations/{CONSUMER}')
    after.driver.describe = tree_without_children
    after.done()
    assert set(operator.holdings()) == {'node-1'}


POOL = scenarios.just(*scenarios.SHARING)
ALONE = scenarios.just(scenarios.SHARING[0])
CREATION = 'POST /resource_providers'


@pytest.mark.parametrize('complete', [True, False])
def test_a_pool_that_another_agent_made_after_the_crash_stays_for_them(
    placement, agent_factory, operator, tmp_path, complete
):
    """The creation was killed before it left; both derive the same uuid."""
    state = tmp_path / 'state'
    agent = _ready(agent_factory, ALONE, POOL, state)
    left = _cut(placement, agent, state, 0, Killed, 'before', CREATION)
    if complete:
        other = {scenarios.SECOND: scenarios.SECOND_NAME}
        agent_factory(_pool_of(scenarios.SECOND), nodes=other).done()
    else:
        operator.create(scenarios.SHARED, 'shared')
        operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=scenarios.SHARED)
        _user(operator)
    after = agent_factory(POOL, state=left)
    (result,) = after.sync()
    advice = f'compute-agent resource provider adopt {scenarios.SHARED}'
    assert any(advice in note for note in result.notes)
    there = operator.holdings()['shared']
    after.driver.describe = _without_pool
    after.sync()
    assert operator.holdings()['shared'] == there


@pytest.mark.parametrize('when', ['before', 'after'])
def test_a_pool_of_our_own_is_still_ours_after_the_crash(
    placement, agent_factory, operator, tmp_path, when
):
    """Nobody wrote to it, or its creation was recorded when it was answered."""
    state = tmp_path / 'state'
    agent = _ready(agent_factory, ALONE, POOL, state)
    match = CREATION if when == 'after' else PUT_TRAITS
    left = _cut(placement, agent, state, 0, Killed, when, match)
    if when == 'before':
        operator.set_aggregates(AGGREGATE, uuid=scenarios.SHARED)
        operator.set_aggregates(uuid=scenarios.SHARED)
    after = agent_factory(POOL, state=left)
    after.done()
    after.driver.describe = _without_pool
    after.done()
    assert 'shared' not in operator.holdings()


@pytest.mark.catches('the mark of an agent proves no creation', case='True')
@pytest.mark.catches(
    'a creation that nothing shows is recorded at the end', case='False'
)
@pytest.mark.parametrize('is_marked', [True, False])
def test_a_root_is_known_although_the_outcome_was_lost(
    agent_factory, operator, is_marked
):
    """Only the intents, and what they do not show, wait for the disk."""
    driver = scenarios.Host(ALONE, nodes={scenarios.NODE: 'node-1'})
    driver.node_filter = {} if is_marked else None
    agent = agent_factory(driver, takes_over=False)
    record = agent.state.journal.record_outcome

    def durable(*given, may_be_lost=False, **more):
        if not may_be_lost:
            record(*given, **more)

    agent.state.journal.record_outcome = durable
    agent.done()
    left = state_copy.opened(state_copy.copied(agent.state))
    after = agent_factory(driver, state=left, takes_over=False)
    (result,) = after.done()
    assert not result.notes
    driver.nodes.clear()
    after.sync()
    after.state.close()
    assert operator.holdings() == {}


def test_a_pool_that_another_creates_at_the_same_moment_stays_for_them(
    placement, agent_factory, operator
):
    """Placement answers 409, and the other has not written more by then."""
    agent = agent_factory(ALONE)
    agent.done()
    left = [scenarios.SHARED]

    def create(request):
        if str(request) == CREATION and left:
            operator.create(left.pop(), 'shared')

    placement.before_request(create)
    agent.driver.describe = POOL
    agent.sync()
    _user(operator)
    agent.driver.describe = _without_pool
    agent.sync()
    assert 'shared' in operator.holdings()


def tree_without_children(tree, node):
    """Remove the children that an earlier description made."""
    for uuid in tree.get_provider_uuids(node)[1:]:
        tree.remove(uuid)
    tree.update_inventory(node, {'MEMORY_MB': {'total': 4096}})


def _user(operator):
    """Let another writer have a node that uses the pool."""
    operator.create(scenarios.SECOND, scenarios.SECOND_NAME)
    operator.set_aggregates(AGGREGATE, uuid=scenarios.SECOND)


def _pool_of(node):
    """Return the description of another node that has the pool too."""
    root, pool = scenarios.SHARING
    return scenarios.Wishes(
        {node: (dataclasses.replace(root, uuid=node), pool)}
    )


def _without_pool(tree, node):
    """Remove the pool if the tree has it."""
    if tree.exists(scenarios.SHARED):
        tree.remove(scenarios.SHARED)
    ALONE(tree, node)


def test_a_start_that_is_killed_again_and_again_gets_there(
    placement, agent_factory, operator, tmp_path
):
    first = agent_factory(TREE)
    first.done()
    goal = operator.holdings()
    placement.reset()
    killed = 0
    while True:
        agent = agent_factory(TREE, state=tmp_path)
        fault = placement.fault(
            '*', Killed, skip=killed, after_commit=killed % 2
        )
        try:
            agent.done()
        except Killed:
            killed += 1
            agent.state.close()
            continue
        break
    assert killed > 5
    assert fault.hits == 0
    assert operator.holdings() == goal


def _ready(agent_factory, before, after, state):
    """Return an agent that is about to go from one tree to the other."""
    agent = agent_factory(before or after, state=state)
    if before is not None:
        agent.done()
    agent.driver.describe = after
    return agent


def _cut(placement, agent, state, number, kind, when, match='*'):
    """Cut the agent's cycle at that request; return the state left over."""
    left = state.with_name(f'{state.name}-left')
    counted = itertools.count()

    def keep(request):
        if fnmatch.fnmatch(str(request), match) and next(counted) == number:
            shutil.copytree(state, left)

    placement.clear()
    placement.before_request(keep)
    fault = placement.fault(
        match, kind, skip=number, after_commit=when == 'after'
    )
    with contextlib.suppress(Killed, errors.AgentError):
        agent.sync()
    assert fault.hits == 1
    placement.mend()
    agent.state.close()
    return left if kind is Killed else state
