# SPDX-License-Identifier: Apache-2.0
"""Every request can be the last: the next start goes on from there.

The agent is killed at each request in turn, before placement sees it and after
placement did it. What is left of the killed one is its state directory as it
was at that moment; ``timeout`` is the milder case, where the agent lives on
and only the answer is lost.
"""

import contextlib
import fnmatch
import itertools
import shutil

import pytest
import requests
from agents import NODE

from compute_agent import errors

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
NUMA0 = '33333333-3333-4333-8333-333333333330'
NUMA1 = '33333333-3333-4333-8333-333333333331'
SHARED = '55555555-5555-4555-8555-555555555555'
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}


WHEN = ('before', 'after')
PUT_TRAITS = 'PUT /resource_providers/*/traits'


class Killed(BaseException):
    """The process is no more; nothing of it handles that."""


def tree(*children, shared=False, cores=4, traits=(), exclusive=False):
    """Return a description of a tree."""

    def describe(tree, node):
        if exclusive:
            tree.update_traits(node, traits)
        else:
            tree.add_traits(node, *traits)
        tree.update_inventory(node, {'MEMORY_MB': {'total': 1024 * cores}})
        tree.update_aggregates(node, [AGGREGATE] if children else [])
        for uuid in tree.get_provider_uuids(node)[1:]:
            if uuid not in children:
                tree.remove(uuid)
        for uuid in children:
            if not tree.exists(uuid):
                tree.new_child(f'numa{uuid[-1]}', node, uuid)
            tree.update_inventory(uuid, {'VCPU': {'total': cores}})
            tree.add_traits(uuid, 'HW_NUMA_ROOT', 'CUSTOM_NUMA')
        if shared:
            if not tree.exists(SHARED):
                tree.new_root('shared', SHARED)
            tree.update_inventory(SHARED, {'DISK_GB': {'total': 10}})
            tree.add_traits(SHARED, 'MISC_SHARES_VIA_AGGREGATE')
            tree.add_aggregates(SHARED, AGGREGATE)

    return describe


TREE = tree(NUMA0, traits=['HW_CPU_X86_AVX', 'CUSTOM_A'])
SCENARIOS = {
    'first boot': (None, TREE),
    'first boot with a sharing provider': (
        None,
        tree(NUMA0, shared=True, traits=['CUSTOM_A']),
    ),
    'change': (
        TREE,
        tree(NUMA0, cores=8, traits=['CUSTOM_B'], exclusive=True),
    ),
    'removal': (tree(NUMA0, NUMA1), tree(NUMA1, cores=2)),
    'a provider goes and another comes': (
        tree(NUMA0, traits=['CUSTOM_A']),
        tree(NUMA1, traits=['CUSTOM_A', 'CUSTOM_B']),
    ),
}
CUTS = [
    *((name, Killed, when) for name in SCENARIOS for when in WHEN),
    *(
        (name, requests.ReadTimeout, when)
        for name in ('first boot', 'change')
        for when in WHEN
    ),
]


@pytest.mark.parametrize(
    ('scenario', 'kind', 'when'),
    CUTS,
    ids=lambda value: getattr(value, '__name__', value),
)
def test_wherever_it_is_cut_it_ends_in_the_same_state(
    placement, agent_factory, operator, tmp_path, scenario, kind, when
):
    before, after = SCENARIOS[scenario]
    first = _ready(agent_factory, before, after, tmp_path / 'uncut')
    placement.clear()
    first.done()
    goal, methods = operator.holdings(), [r.method for r in placement.requests]
    for number, method in enumerate(methods):
        if method == 'GET' and when == 'after':
            continue  # nothing was done: it is "before" the next one
        placement.reset()
        state = tmp_path / str(number)
        agent = _ready(agent_factory, before, after, state)
        left = _cut(placement, agent, state, number, kind, when)
        where = f'cut {when} request {number}: {placement.requests[-1]}'
        _check(placement, agent_factory, operator, left, after, goal, where)


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


def test_the_same_names_set_by_another_after_the_cut_stay_theirs(
    placement, agent_factory, operator, tmp_path
):
    """They wrote what we had not, at another generation than ours."""
    state = tmp_path / 'state'
    agent = _ready(
        agent_factory, tree(), tree(traits=['HW_CPU_X86_AVX']), state
    )
    left = _cut(placement, agent, state, 0, Killed, 'before', PUT_TRAITS)
    operator.set_aggregates(AGGREGATE)
    operator.set_aggregates()
    operator.add_traits('HW_CPU_X86_AVX')
    agent_factory(tree(), state=left).done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}


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


def _check(placement, agent_factory, operator, state, after, goal, where):
    """Two cycles get there, a third has nothing to do, all of it is ours."""
    agent = agent_factory(after, state=state)
    agent.sync()
    agent.sync()
    placement.clear()
    agent.sync()
    assert placement.writes == [], where
    assert operator.holdings() == goal, where
    agent.driver.describe = tree()
    agent.done()
    assert operator.traits() == OWN, where
    assert operator.aggregates() == set(), where
    left = placement.get(f'/resource_providers?in_tree={NODE}')
    assert len(left['resource_providers']) == 1, where
