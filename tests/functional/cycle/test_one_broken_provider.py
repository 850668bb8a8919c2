# SPDX-License-Identifier: Apache-2.0
"""A value of one provider that makes no sense fails that node, no other."""

import pytest

from compute_agent import errors
from compute_agent.cycle import resource_tracker

Status = resource_tracker.Status
NODES = {f'{n}{n * 7}-1111-4111-8111-111111111111': f'node-{n}' for n in '123'}
BROKEN, *SOUND = NODES
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
HALF = 'half \ud800 of it'


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.update_traits(node, ['HW_CPU_X86_AVX'])


def changed(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 9}})
    tree.update_traits(node, ['HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'])
    tree.update_aggregates(node, [AGGREGATE])


def written(placement):
    """Return the parts of the broken provider that were written."""
    paths = [w.path for w in placement.writes if BROKEN in w.path]
    return {path.rpartition('/')[2] for path in paths}


def readable_before(what):
    """Return the parts that the agent reads and writes before the broken one.

    Each part is read just before it is written.
    """
    places = {'aggregate': 1, 'inventories': 2, 'class': 2, 'total': 2}
    place = max((n for word, n in places.items() if word in what), default=0)
    return set(('traits', 'aggregates')[:place])


def in_list(**fields):
    """Return what breaks the provider's row in the list of all."""

    def broken(placement):
        body = placement.get('/resource_providers')
        for row in body['resource_providers']:
            if row['uuid'] == BROKEN:
                row.update(fields)
        placement.fault('GET /resource_providers', (200, body), times=None)

    return broken


def in_part(part, **fields):
    """Return what breaks one part of the provider, when it is read."""

    def broken(placement):
        path = f'/resource_providers/{BROKEN}/{part}'
        body = {**placement.get(path), **fields}
        placement.fault(f'GET {path}', (200, body), times=None)

    return broken


GENERATION = 'resource_provider_generation'
BREAKS = {
    'generation in the list': in_list(generation=10**20),
    'generation below zero': in_list(generation=-1),
    'name in the list': in_list(name=HALF),
    'its own parent': in_list(parent_provider_uuid=BROKEN),
    'generation of traits': in_part('traits', **{GENERATION: 10**20}),
    'generation of aggregates': in_part('aggregates', **{GENERATION: 2**63}),
    'generation of inventories': in_part('inventories', **{GENERATION: 2**64}),
    'half a trait': in_part('traits', traits=[HALF]),
    'half an aggregate': in_part('aggregates', aggregates=[HALF]),
    'half a class': in_part('inventories', inventories={HALF: {'total': 1}}),
    'a total': in_part('inventories', inventories={'VCPU': {'total': 10**20}}),
}


@pytest.mark.parametrize('what', BREAKS)
@pytest.mark.catches(
    'half of a character passes for a name', case='half a trait'
)
@pytest.mark.catches(
    'a number may be of any size', case='generation in the list'
)
@pytest.mark.catches(
    'one row that makes no sense makes the list unknown',
    case='generation in the list',
)
def test_the_other_nodes_go_on(placement, agent_factory, caplog, what):
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    before = placement.get(f'/resource_providers/{BROKEN}/traits')
    agent.driver.describe = changed
    BREAKS[what](placement)
    placement.clear()
    results = {r.node.uuid: r for r in agent.sync()}
    for uuid in SOUND:
        assert results[uuid].status is Status.DONE
        path = f'/resource_providers/{uuid}/traits'
        assert 'HW_CPU_X86_AVX2' in placement.get(path)['traits']
    broken = results[BROKEN]
    assert broken.status is not Status.DONE
    assert broken.reason.isprintable()
    assert 'unexpected' not in broken.reason
    assert written(placement) <= readable_before(what)
    if 'traits' not in readable_before(what):
        assert placement.get(f'/resource_providers/{BROKEN}/traits') == before
    assert not [r for r in caplog.records if r.exc_info]
    placement.mend()
    agent.done()


def test_a_broken_provider_of_others_is_nobody_s_trouble(
    placement, agent_factory
):
    other = '99999999-9999-4999-8999-999999999999'
    placement.post('/resource_providers', {'name': 'other', 'uuid': other})
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    body = placement.get('/resource_providers')
    for row in body['resource_providers']:
        if row['uuid'] == other:
            row.update(name=HALF, generation=10**20)
    placement.fault('GET /resource_providers', (200, body), times=None)
    agent.driver.describe = changed
    agent.done()


def test_a_provider_that_is_listed_twice_makes_the_list_unknown(
    placement, agent_factory
):
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    body = placement.get('/resource_providers')
    rows = body['resource_providers']
    twin = next(row for row in rows if row['uuid'] == BROKEN)
    rows.append({**twin, 'name': 'twin', 'generation': 0})
    placement.fault('GET /resource_providers', (200, body), times=None)
    agent.driver.describe = changed
    placement.clear()
    with pytest.raises(errors.UnknownState, match='twice'):
        agent.sync()
    assert placement.writes == []


@pytest.mark.parametrize('generation', [10**20, 2**63])
@pytest.mark.parametrize('part', ['traits', 'inventories'])
def test_the_answer_to_a_write_may_be_broken_too(
    placement, agent_factory, part, generation
):
    """The write may have been done, and the next cycle finds out."""
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    agent.driver.describe = changed
    answer = (200, {GENERATION: generation, part: []})
    match = f'PUT /resource_providers/{BROKEN}/{part}'
    placement.fault(match, answer, after_commit=True)
    results = {r.node.uuid: r for r in agent.sync()}
    assert results[BROKEN].status is not Status.DONE
    assert 'unexpected' not in results[BROKEN].reason
    assert [results[uuid].status for uuid in SOUND] == [Status.DONE] * 2
    agent.done()


@pytest.mark.parametrize('path', ['/traits', '/resource_classes'])
@pytest.mark.catches('one name that makes no sense makes all names unknown')
def test_one_broken_name_of_all_does_not_make_the_others_unknown(
    placement, agent_factory, operator, path
):
    body = placement.get(path)
    names = body['traits' if path == '/traits' else 'resource_classes']
    names.append(HALF if path == '/traits' else {'name': HALF})
    placement.fault(f'GET {path}', (200, body), times=None)
    agent_factory(describe, nodes=NODES).done()
    for uuid in NODES:
        assert 'HW_CPU_X86_AVX' in operator.traits(uuid)
        assert operator.inventories(uuid)['VCPU']['total'] == 8
