# SPDX-License-Identifier: Apache-2.0
"""Cycles of the Ironic driver between a real Ironic and a real placement."""

import pytest
from ironic_agents import ironic_driver
from ironic_fixture import PASSWORD, USER

from compute_agent import errors
from compute_agent.cmd.plan import waiting
from compute_agent.cycle import resource_tracker
from compute_agent.fleet.values import mark
from drivers.ironic.nodes import node

Status = resource_tracker.Status
CAPABILITIES = set(node.CAPABILITIES)
OWN = CAPABILITIES | {'COMPUTE_NODE', 'OWNER_NOVA'}
CONSUMER = '99999999-9999-4999-8999-999999999999'


@pytest.fixture
def agent(agent_factory, ironic):
    """An agent without a mark, but for the tests that are about it."""
    return agent_factory(ironic_driver(ironic.url), marks_nodes=False)


def of(results, uuid):
    (found,) = [r for r in results if r.node.uuid == uuid]
    return found


def reserved(operator, uuid, rc='CUSTOM_GOLD'):
    return operator.inventories(uuid)[rc]['reserved']


def test_a_new_node_is_whole_in_placement(agent, ironic, operator):
    uuid = ironic.available('n', 'gold', ['CUSTOM_X', 'HW_CPU_X86_VMX'])
    agent.done()
    assert operator.holdings() == {
        uuid: {
            'uuid': uuid,
            'parent': None,
            'inventories': {
                'CUSTOM_GOLD': {
                    'total': 1,
                    'reserved': 0,
                    'min_unit': 1,
                    'max_unit': 1,
                    'step_size': 1,
                    'allocation_ratio': 1.0,
                }
            },
            'traits': OWN | {'CUSTOM_X', 'HW_CPU_X86_VMX'},
            'aggregates': set(),
        }
    }


@pytest.mark.parametrize('mode', ['exclusive', 'merge'])
def test_traits_follow_ironic_within_a_cycle(
    agent_factory, ironic, operator, placement, mode
):
    uuid = ironic.available('n', 'gold', ['CUSTOM_X'])
    driver = ironic_driver(ironic.url, trait_ownership=mode)
    agent = agent_factory(driver, marks_nodes=False)
    agent.done()
    operator.add_traits('CUSTOM_HAND', 'COMPUTE_STATUS_DISABLED', uuid=uuid)
    ironic.add_trait('n', 'CUSTOM_Y')
    ironic.remove_trait('n', 'CUSTOM_X')
    agent.done()
    by_hand = {'CUSTOM_HAND'} if mode == 'merge' else set()
    assert operator.traits(uuid) == (
        OWN | {'CUSTOM_Y', 'COMPUTE_STATUS_DISABLED'} | by_hand
    )
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_exclusive_marks_what_it_takes_from_others(agent, ironic, operator):
    uuid = ironic.available('n')
    agent.done()
    operator.add_traits('CUSTOM_HAND', uuid=uuid)
    (planned,) = agent.plan()
    (change,) = planned.plan.operations
    assert change.foreign == {'CUSTOM_HAND'}


def test_a_trait_dropped_from_placement_comes_back(agent, ironic, operator):
    uuid = ironic.available('n', 'gold', ['CUSTOM_X'])
    agent.done()
    operator.remove_traits('CUSTOM_X', uuid=uuid)
    agent.done()
    assert 'CUSTOM_X' in operator.traits(uuid)


def test_fifty_traits_go_through(agent, ironic, operator):
    fifty = {f'CUSTOM_T{number}' for number in range(50)}
    uuid = ironic.available('n', 'gold', fifty)
    agent.done()
    assert operator.traits(uuid) == OWN | fifty


# --- availability: the states that fake hardware reaches ----------------------


def test_a_node_is_to_be_had_only_while_it_is_available(
    agent, ironic, operator
):
    uuid = ironic.create(name='n', resource_class='gold')['uuid']

    def after(*steps):
        for step in steps:
            ironic.provision('n', *step)
        agent.done()
        return reserved(operator, uuid)

    agent.done()
    assert ironic.node('n')['provision_state'] == 'enroll'
    assert reserved(operator, uuid) == 1
    assert after(('manage', 'manageable')) == 1
    ironic.provision('n', 'provide', 'available')
    assert ironic.node('n')['power_state'] is None
    assert after() == 1
    ironic.set_power('n', 'power off')
    assert after() == 0
    ironic.set_maintenance('n', on=True)
    assert after() == 1
    ironic.set_maintenance('n', on=False)
    assert after() == 0
    ironic.deploy('n')
    assert after() == 1
    ironic.undeploy('n')
    assert after() == 0
    assert after(('manage', 'manageable')) == 1


@pytest.mark.parametrize(
    ('columns', 'expected'),
    [
        ({'power_state': 'error'}, 1),
        ({'power_state': None}, 1),
        ({'power_state': 'power off'}, 0),
        ({'provision_state': 'clean failed'}, 1),
        ({'provision_state': 'deploy failed'}, 1),
        ({'provision_state': 'rescue'}, 1),
        ({'provision_state': None}, 0),
        ({'instance_uuid': CONSUMER}, 1),
        ({'fault': 'power failure'}, 0),
        ({'retired': True}, 0),
    ],
    ids=str,
)
def test_a_state_that_needs_real_hardware(
    agent, ironic, operator, columns, expected
):
    uuid = ironic.available('n')
    ironic.force('n', **columns)
    agent.done()
    assert reserved(operator, uuid) == expected


def test_an_instance_need_not_reserve_its_node(
    agent_factory, ironic, operator
):
    uuid = ironic.available('n')
    ironic.deploy('n')
    ironic.force('n', provision_state='available')
    driver = ironic_driver(ironic.url, skip_reserve_in_use_ironic_nodes=True)
    agent_factory(driver).done()
    assert reserved(operator, uuid) == 0


# --- resource classes --------------------------------------------------------


@pytest.mark.parametrize(
    ('given', 'expected'),
    [
        ('gold', 'CUSTOM_GOLD'),
        ('baremetal.g-1', 'CUSTOM_BAREMETAL_G_1'),
        ('CUSTOM_GOLD', 'CUSTOM_CUSTOM_GOLD'),
        ('VCPU', 'CUSTOM_VCPU'),
        ('größe-1', 'CUSTOM_GR_E_1'),
        ('x' * 80, f'CUSTOM_{"X" * 80}'),
    ],
)
def test_a_class_has_novas_name_in_placement(
    agent, ironic, operator, given, expected
):
    uuid = ironic.available('n', given)
    agent.done()
    assert set(operator.inventories(uuid)) == {expected}


def test_a_node_that_loses_its_class_is_reserved_and_said(
    agent, ironic, operator, placement
):
    uuid, other = ironic.available('n'), ironic.available('o')
    agent.done()
    ironic.force('n', resource_class=None)
    for _ in range(2):
        results = agent.sync()
        assert of(results, uuid).status is Status.FAILED
        assert 'no resource class' in of(results, uuid).reason
        assert of(results, other).status is Status.DONE
        assert reserved(operator, uuid) == 1
    ironic.patch('n', resource_class='gold')
    agent.done()
    assert reserved(operator, uuid) == 0


def test_a_node_that_never_had_a_class_is_not_reported(
    agent, ironic, operator
):
    uuid = ironic.create(name='n', resource_class=None)['uuid']
    (result,) = agent.done()
    assert 'no resource class' in result.notes[0]
    assert operator.holdings() == {}
    ironic.patch('n', resource_class='gold')
    agent.done()
    assert set(operator.holdings()) == {uuid}


def test_two_classes_of_one_name_are_refused(agent, ironic, operator):
    fine = ironic.available('fine', 'silver')
    first = ironic.available('first', 'gold-1')
    agent.done()
    second = ironic.available('second', 'gold.1')
    results = agent.sync()
    assert of(results, fine).status is Status.DONE
    assert "'gold-1' and 'gold.1'" in of(results, first).notes[0]
    assert of(results, first).status is Status.DONE
    assert "'gold-1' and 'gold.1'" in of(results, second).reason
    assert set(operator.holdings()) == {fine, first}
    assert reserved(operator, first, 'CUSTOM_GOLD_1') == 0
    ironic.set_maintenance('first', on=True)
    agent.sync()
    assert reserved(operator, first, 'CUSTOM_GOLD_1') == 1


def test_a_class_change_under_an_allocation_waits(
    agent, ironic, operator, placement
):
    uuid = ironic.available('n')
    agent.done()
    operator.allocate(CONSUMER, 'CUSTOM_GOLD', uuid)
    ironic.force('n', resource_class='silver')
    for _ in range(2):
        (result,) = agent.sync()
        assert result.status is Status.FAILED
        assert f'allocated to {CONSUMER}' in result.reason
        assert (
            'CUSTOM_SILVER is added when these allocations are gone'
            in result.reason
        )
        assert set(operator.inventories(uuid)) == {'CUSTOM_GOLD'}
        assert reserved(operator, uuid) == 1
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert set(operator.inventories(uuid)) == {'CUSTOM_SILVER'}


def test_a_class_lost_under_an_allocation_stays_until_there_is_another(
    agent, ironic, operator, placement
):
    uuid = ironic.available('n')
    agent.done()
    operator.allocate(CONSUMER, 'CUSTOM_GOLD', uuid)
    ironic.force('n', resource_class=None)
    for _ in range(2):
        (result,) = agent.sync()
        assert result.status is Status.FAILED
        assert 'n has no resource class in Ironic' in result.reason
        assert '"baremetal node set n --resource-class CLASS"' in result.reason
        assert set(operator.inventories(uuid)) == {'CUSTOM_GOLD'}
        assert reserved(operator, uuid) == 1
    ironic.patch('n', resource_class='silver')
    (result,) = agent.sync()
    assert result.status is Status.FAILED
    assert set(operator.inventories(uuid)) == {'CUSTOM_GOLD'}
    assert reserved(operator, uuid) == 1
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert set(operator.inventories(uuid)) == {'CUSTOM_SILVER'}


def test_a_node_that_lost_its_class_and_then_is_deleted_goes_once_free(
    agent, ironic, operator, placement
):
    uuid = ironic.available('n')
    agent.done()
    operator.allocate(CONSUMER, 'CUSTOM_GOLD', uuid)
    ironic.force('n', resource_class=None)
    agent.sync()
    ironic.delete('n')
    for _ in range(2):
        (result,) = agent.sync()
        assert result.status is Status.FAILED
        assert f'allocated to {CONSUMER}' in result.reason
        assert reserved(operator, uuid) == 1
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert operator.holdings() == {}


def test_a_class_change_without_one_is_done(agent, ironic, operator):
    uuid = ironic.available('n')
    agent.done()
    ironic.patch('n', resource_class='silver')
    agent.done()
    assert set(operator.inventories(uuid)) == {'CUSTOM_SILVER'}


# --- nodes that come and go ---------------------------------------------------


def test_a_node_deleted_in_ironic_goes(agent, ironic, operator):
    stays, goes = ironic.available('s'), ironic.available('g')
    agent.done()
    ironic.delete('g')
    agent.done()
    assert set(operator.holdings()) == {stays}
    assert goes not in operator.holdings()


def test_a_node_deleted_between_listing_and_sync_goes_in_the_next_cycle(
    agent, ironic, operator, placement
):
    ironic.available('n')
    placement.before_request(
        lambda request: ironic.delete('n') if ironic.nodes() else None
    )
    agent.done()
    agent.done()
    assert operator.holdings() == {}


def test_a_renamed_node_is_the_same(agent, ironic, placement, operator):
    uuid = ironic.available('n')
    agent.done()
    ironic.patch('n', name='another')
    placement.clear()
    agent.done()
    assert placement.writes == []
    assert set(operator.holdings()) == {uuid}


@pytest.mark.parametrize(
    ('options', 'move'),
    [
        ({'conductor_group': ''}, {'conductor_group': 'far'}),
        ({'shard': 'near'}, {'shard': 'far'}),
    ],
    ids=['conductor_group', 'shard'],
)
def test_a_node_that_moves_to_another_agent_stays_in_placement(
    agent_factory, ironic, operator, placement, options, move
):
    uuid = ironic.available('n', shard=options.get('shard'))
    old = agent_factory(ironic_driver(ironic.url, **options))
    old.done()
    ironic.force('n', **move)
    placement.clear()
    (result,) = old.done()
    assert 'another agent reports it now' in result.notes[0]
    assert placement.writes == []
    assert set(operator.holdings()) == {uuid}
    (before,) = mark.marks(operator.traits(uuid))
    driver = ironic_driver(ironic.url, **move)
    new = agent_factory(driver, takes_over=False)
    (result,) = new.sync()
    assert str(before) in result.reason
    assert placement.writes == []
    # The option for first writes does not allow it, because the shares differ.
    new = agent_factory(driver, takes_over=True)
    allowed = waiting.subjects(waiting.of(new.plan()))
    new.state.approvals.grant(allowed, 'a person')
    new.done()
    (now,) = mark.marks(operator.traits(uuid))
    assert now.agent == new.state.agent_id
    placement.clear()
    (result,) = old.done()
    assert result.status is Status.LEFT
    new.done()
    assert placement.writes == []


def test_without_the_record_merge_says_what_it_leaves(
    agent_factory, ironic, operator
):
    uuid = ironic.available('n', traits=['CUSTOM_X'])
    how = {'trait_ownership': 'merge'}
    old = agent_factory(ironic_driver(ironic.url, **how), marks_nodes=False)
    old.done()
    ironic.remove_trait('n', 'CUSTOM_X')
    new = agent_factory(ironic_driver(ironic.url, **how), marks_nodes=False)
    (result,) = new.done()
    assert 'keeps CUSTOM_X' in result.notes[0]
    assert 'CUSTOM_X' in operator.traits(uuid)
    (result,) = new.done()
    assert result.notes == ()


MIXED = 'AbCdEf01-1111-4111-8111-AbCdEf012345'


@pytest.mark.parametrize(
    'spelled',
    [
        MIXED,
        MIXED.lower().replace('-', ''),
        f'{{{MIXED}}}',
        f'urn:uuid:{MIXED}',
        'abcdef01-11114111-8111-abcdef012345',
    ],
)
def test_a_node_is_known_by_its_uuid_as_it_was_enrolled(
    agent_factory, ironic, operator, placement, spelled
):
    ironic.create(uuid=spelled, name='n', resource_class='gold', shard='near')
    agent = agent_factory(ironic_driver(ironic.url, shard='near'))
    (result,) = agent.done()
    there = operator.holdings()
    assert there[spelled]['uuid'] == MIXED.lower()
    assert result.node.called == 'n'
    ironic.force('n', shard='far')
    placement.clear()
    (result,) = agent.done()
    assert 'nothing of it is removed' in result.notes[0]
    assert placement.writes == []
    assert operator.holdings() == there
    ironic.force('n', shard='near')
    agent.done()
    ironic.delete('n')
    agent.done()
    assert operator.holdings() == {}


def test_two_spellings_of_one_uuid_keep_what_they_have(
    agent, ironic, operator, placement, caplog
):
    ironic.create(uuid=MIXED.lower(), name='n', resource_class='gold')
    other = ironic.available('other')
    agent.done()
    there = operator.holdings()
    ironic.create(uuid=MIXED, name='m', resource_class='silver')
    placement.clear()
    for _ in range(2):
        results = agent.done()
    assert {r.node.uuid: r.status for r in results} == {
        other: Status.DONE,
        MIXED.lower(): Status.LEFT,
    }
    assert placement.writes == []
    assert operator.holdings() == there
    (line,) = [r.message for r in caplog.records if 'same uuid' in r.message]
    assert f'{MIXED} and {MIXED.lower()} are the same uuid' in line


def test_a_trait_that_placement_could_not_take_holds_nothing_up(
    agent, ironic, operator
):
    uuid = ironic.available('n')
    agent.done()
    ironic.set_traits('n', ['CUSTOM_X\n', 'CUSTOM_Y'])
    ironic.set_maintenance('n', on=True)
    (result,) = agent.done()
    assert "'CUSTOM_X\\n' in Ironic, which is left out" in result.notes[0]
    assert operator.traits(uuid) == OWN | {'CUSTOM_Y'}
    assert reserved(operator, uuid) == 1


def test_a_group_is_asked_for_as_ironic_writes_it(
    agent_factory, ironic, operator
):
    uuid = ironic.available('n')
    ironic.force('n', conductor_group='hall-1')
    driver = ironic_driver(ironic.url, conductor_group='Hall-1')
    agent_factory(driver).done()
    assert set(operator.holdings()) == {uuid}


def test_a_shard_that_is_a_slip_is_said_once(agent_factory, ironic, caplog):
    ironic.available('n', shard='near')
    agent = agent_factory(ironic_driver(ironic.url, shard='typo'))
    for _ in range(2):
        assert agent.done() == []
    lines = [r.message for r in caplog.records if r.levelname == 'WARNING']
    assert lines == ["[ironic] shard 'typo' has no nodes in Ironic"]


def test_a_shard_lists_its_own_nodes_only(agent_factory, ironic, operator):
    mine = ironic.available('mine', shard='near')
    ironic.available('theirs', shard='far')
    ironic.available('none')
    agent_factory(ironic_driver(ironic.url, shard='near')).done()
    assert set(operator.holdings()) == {mine}


# --- the wire ------------------------------------------------------------------


def test_a_thousand_nodes_cost_one_listing_and_one_list(
    agent_factory, ironic, placement, sent
):
    ironic.available('model', 'gold', ['CUSTOM_X', 'HW_CPU_X86_VMX'])
    ironic.copies('model', 999)
    agent = agent_factory(ironic_driver(ironic.url), workers=4)
    sent.clear()
    assert len(agent.done()) == 1000
    assert len(sent) <= 2
    names = [
        r
        for r in placement.writes
        if r.path.startswith(('/traits/', '/resource_classes/'))
    ]
    assert sorted(r.path for r in names) == [
        '/resource_classes/CUSTOM_GOLD',
        f'/traits/{mark.Mark.of("IronicDriver", agent.state.agent_id).trait}',
        '/traits/CUSTOM_X',
    ]
    assert len(placement.requests) - len(names) <= 4 * 1000
    assert len(placement.writes) == 3 * 1000 + len(names)

    placement.clear()
    sent.clear()
    assert len(agent.done()) == 1000
    pages = [r for r in sent if r.startswith('GET /v1/nodes?')]
    assert pages == sent
    assert len(pages) <= 2  # a page that is exactly full has a next one
    assert [str(r) for r in placement.requests] == ['GET /resource_providers']


def test_an_ironic_with_a_password_is_asked_with_it(
    agent_factory, ironic_basic, operator
):
    uuid = ironic_basic.available('n')
    how = {'auth_type': 'http_basic', 'username': USER}
    driver = ironic_driver(ironic_basic.url, **how, password=PASSWORD)
    agent_factory(driver).done()
    assert set(operator.holdings()) == {uuid}
    wrong = agent_factory(
        ironic_driver(ironic_basic.url, **how, password='no')
    )
    with pytest.raises(errors.Unavailable, match=r'\[ironic\]'):
        wrong.sync()


def test_a_listing_that_fails_changes_nothing(
    agent_factory, ironic, placement, unused_port, operator
):
    uuid = ironic.available('n')
    agent_factory(ironic_driver(ironic.url)).done()
    away = agent_factory(
        ironic_driver(f'http://127.0.0.1:{unused_port}', api_max_retries=0)
    )
    placement.clear()
    with pytest.raises(errors.Unavailable, match='127.0.0.1'):
        away.sync()
    assert placement.requests == []
    assert set(operator.holdings()) == {uuid}


def test_people_see_the_names_that_ironic_has(agent, ironic):
    uuid = ironic.available('rack1-node01')
    (result,) = agent.plan()
    assert str(result.node) == f'rack1-node01 ({uuid})'
