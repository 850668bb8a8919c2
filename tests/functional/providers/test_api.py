# SPDX-License-Identifier: Apache-2.0
"""Providers found, made, deleted, and changed beside other writers."""

import pytest
from agents import NAME, NODE, meddle

from compute_agent import errors as agent_errors
from compute_agent.tree import inventory
from report_client import errors
from report_client.api.content_kinds import AGGREGATES

CHILD = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
AGG1 = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
AGG2 = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'


@pytest.fixture
def one(operator, providers, placement):
    """A provider, found."""
    operator.create(NODE, NAME)
    found = providers.find(NAME)
    placement.clear()
    return found


# --- find ---------------------------------------------------------------------


@pytest.mark.parametrize('word', [NAME, NODE, NODE.upper()])
def test_a_provider_is_found_by_name_and_by_uuid(
    placement, providers, one, word
):
    assert providers.find(word) == one
    assert len(placement.requests) == (1 if word == NAME else 2)


def test_a_name_that_looks_like_a_uuid_is_found(providers, operator):
    operator.create(NODE, OTHER)
    assert providers.find(OTHER).uuid == NODE


def test_one_by_uuid_and_another_by_name_are_both_named(providers, operator):
    operator.create(NODE, OTHER)
    operator.create(OTHER, 'another')
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.find(OTHER)
    assert str(raised.value) == (
        f'{OTHER} is both the uuid of provider another and the name of '
        f'provider {NODE}: use another or {NODE}'
    )
    assert providers.find('another').uuid == OTHER
    assert providers.find(NODE).name == OTHER


def test_a_provider_called_by_its_own_uuid_is_one(providers, operator):
    operator.create(NODE, NODE)
    assert providers.find(NODE).uuid == NODE


@pytest.mark.parametrize('name', ['/mnt/nfs/row1 & co/', 'Ω?=#%', 'a+b'])
def test_a_name_of_any_characters_is_found(providers, operator, name):
    operator.create(NODE, name)
    assert providers.find(name).uuid == NODE


@pytest.mark.parametrize('word', ['cn9', OTHER])
def test_what_is_not_there_is_named(providers, word):
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.find(word)
    assert str(raised.value) == f'no provider is called {word}'


def test_a_name_of_another_case_is_not_the_same(placement, providers, one):
    # As MariaDB answers, for which both are one name.
    row = {
        'uuid': NODE,
        'name': NAME,
        'generation': 0,
        'parent_provider_uuid': None,
        'root_provider_uuid': NODE,
    }
    placement.fault('GET *', (200, {'resource_providers': [row]}))
    with pytest.raises(errors.DoesNotExist, match=f'did you mean {NAME}'):
        providers.find(NAME.upper())


@pytest.mark.parametrize('word', ['', 'n' * 201])
def test_what_no_provider_could_be_called_is_not_asked_for(
    placement, providers, word
):
    with pytest.raises(agent_errors.InvalidName):
        providers.find(word)
    assert placement.requests == []


# --- create -------------------------------------------------------------------


def test_a_provider_is_created_with_one_request(placement, providers):
    made = providers.create('share')
    assert (made.name, made.parent_uuid, made.generation) == ('share', None, 0)
    assert made.root_uuid == made.uuid
    assert [str(r) for r in placement.requests] == ['POST /resource_providers']
    assert providers.find('share') == made


def test_its_uuid_parent_and_aggregates_are_what_was_said(
    providers, one, operator
):
    made = providers.create('disk', OTHER.upper(), NODE, [AGG1, AGG2.upper()])
    assert made.uuid == OTHER
    assert (made.parent_uuid, made.root_uuid) == (NODE, NODE)
    assert operator.aggregates(OTHER) == {AGG1, AGG2}


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (
            (NAME,),
            f'the name {NAME} is taken: provider {NAME} ({NODE}) has it',
        ),
        (('x', NODE), f'the uuid {NODE} is taken: provider {NAME} ({NODE})'),
    ],
)
def test_a_name_or_uuid_that_is_taken_names_who_has_it(
    providers, one, arguments, said
):
    with pytest.raises(errors.NameTaken) as raised:
        providers.create(*arguments)
    assert said in str(raised.value)


def test_a_name_that_is_free_again_can_be_tried_again(
    placement, providers, one, operator
):
    def free(request):
        if request.method == 'GET':
            operator.delete(NODE)
            placement.mend()

    placement.before_request(free)
    with pytest.raises(errors.NameTaken, match='try again'):
        providers.create(NAME)


def test_a_parent_that_is_not_there_is_said(providers):
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.create('disk', parent=OTHER)
    assert str(raised.value) == (
        f'provider disk was not created: its parent {OTHER} does not exist'
    )


def test_what_else_placement_refuses_is_said_in_its_words(
    placement, providers, one
):
    placement.fault('POST *', 400)
    with pytest.raises(errors.BadRequest, match='injected by the test'):
        providers.create('disk', parent=NODE)


@pytest.mark.parametrize(
    'arguments',
    [
        ('',),
        ('x', 'cn1'),
        ('x', None, 'cn1'),
        ('x', None, None, ['rack']),
        ('x', None, None, AGG1),
    ],
)
def test_nothing_is_created_of_names_that_are_none(
    placement, providers, arguments
):
    with pytest.raises(agent_errors.InvalidName):
        providers.create(*arguments)
    assert placement.requests == []


def test_a_provider_whose_aggregates_fail_is_said_to_be_there(
    placement, providers
):
    placement.fault('PUT *', 500)
    with pytest.raises(errors.ServerFault) as raised:
        providers.create('share', NODE, aggregates=[AGG1])
    said = str(raised.value)
    assert f'share ({NODE}) was created, but is in no aggregate yet' in said


# --- delete -------------------------------------------------------------------


def test_a_provider_is_deleted_with_what_it_holds(
    placement, providers, one, operator
):
    operator.add_traits('HW_CPU_X86_AVX')
    operator.set_aggregates(AGG1)
    operator.change_inventory('VCPU', total=4)
    providers.delete(one)
    assert placement.requests[-1].status == 204
    assert operator.holdings() == {}


def test_one_that_is_gone_already_is_said(providers, one, operator):
    operator.delete(NODE)
    with pytest.raises(errors.DoesNotExist, match='is gone already'):
        providers.delete(one)


def test_children_stand_against_it_and_are_named(providers, one, operator):
    operator.create(CHILD, 'numa0', NODE)
    operator.create(OTHER, 'below it', CHILD)
    with pytest.raises(errors.InUse) as raised:
        providers.delete(one)
    said = str(raised.value)
    assert said.endswith(f'delete its children first: numa0 ({CHILD})')


def test_of_many_children_five_are_named(providers, one, operator):
    for number in range(7):
        uuid = f'33333333-3333-4333-8333-33333333333{number}'
        operator.create(uuid, f'numa{number}', NODE)
    with pytest.raises(errors.InUse, match=r'numa4 \(.*\) and 2 more$'):
        providers.delete(one)


def test_allocations_stand_against_it_and_are_named(providers, one, operator):
    operator.change_inventory('VCPU', total=4)
    operator.allocate(CONSUMER, 'VCPU')
    with pytest.raises(errors.InUse) as raised:
        providers.delete(one)
    assert str(raised.value).endswith(f'its VCPU is allocated to {CONSUMER}')


def test_what_stood_against_it_may_be_gone(
    placement, providers, one, operator
):
    operator.change_inventory('VCPU', total=4)
    operator.allocate(CONSUMER, 'VCPU')

    def release(request):
        if 'allocations' in request.path:
            placement.delete(f'/allocations/{CONSUMER}')

    placement.before_request(release)
    with pytest.raises(errors.InUse, match='a moment ago; try again'):
        providers.delete(one)


# --- aggregates ---------------------------------------------------------------


def test_aggregates_are_added_to_those_there(providers, one, operator):
    operator.set_aggregates(AGG1)
    done = providers.add(one, AGGREGATES, [AGG2.upper(), AGG1])
    assert done.added == {AGG2}
    assert providers.aggregates(one) == {AGG1, AGG2} == operator.aggregates()


def test_aggregates_are_removed_from_those_there(providers, one, operator):
    operator.set_aggregates(AGG1, AGG2)
    done = providers.remove(one, AGGREGATES, [AGG2])
    assert done.removed == {AGG2}
    assert operator.aggregates() == {AGG1}


def test_aggregates_that_are_so_already_are_not_written(
    placement, providers, one, operator
):
    operator.set_aggregates(AGG1)
    providers.add(one, AGGREGATES, [AGG1])
    providers.remove(one, AGGREGATES, [AGG2])
    assert placement.writes == []


def test_no_change_of_aggregates_is_lost(placement, providers, one, operator):
    meddle(placement, lambda: operator.set_aggregates(AGG2))
    providers.add(one, AGGREGATES, [AGG1])
    assert operator.aggregates() == {AGG1, AGG2}


def test_an_aggregate_is_a_uuid(placement, providers, one):
    with pytest.raises(agent_errors.InvalidName, match="'rack' is not a uuid"):
        providers.add(one, AGGREGATES, ['rack'])
    assert placement.requests == []


# --- inventories --------------------------------------------------------------


def test_an_inventory_is_set_whole(providers, one):
    fields = {
        'total': 100000,
        'reserved': 1000,
        'min_unit': 50,
        'max_unit': 10000,
        'step_size': 10,
        'allocation_ratio': 1.5,
    }
    providers.set_inventory(one, {'DISK_GB': fields})
    record = inventory.Inventory(**fields)
    assert providers.inventories(one) == {'DISK_GB': record}


def test_what_is_not_named_stays(providers, one, operator):
    operator.change_inventory('VCPU', total=8, reserved=2, max_unit=4)
    operator.change_inventory('MEMORY_MB', total=512)
    done = providers.set_inventory(one, {'VCPU': {'reserved': 1}})
    assert done.operation.changed == {'VCPU'}
    assert providers.inventories(one) == {
        'VCPU': inventory.Inventory(total=8, reserved=1, max_unit=4),
        'MEMORY_MB': inventory.Inventory(total=512),
    }


def test_an_inventory_that_is_so_already_is_not_written(
    placement, providers, one, operator
):
    operator.change_inventory('VCPU', total=8)
    done = providers.set_inventory(one, {'VCPU': {'total': 8, 'reserved': 0}})
    assert not done.is_change
    assert placement.writes == []


def test_no_change_of_inventories_is_lost(placement, providers, one, operator):
    meddle(placement, lambda: operator.change_inventory('VCPU', total=8))
    providers.set_inventory(one, {'MEMORY_MB': {'total': 512}})
    assert set(operator.inventories()) == {'VCPU', 'MEMORY_MB'}


@pytest.mark.parametrize(
    ('records', 'kind', 'said'),
    [
        ({'VCPU': {'reserved': 1}}, agent_errors.TreeError, 'VCPU: an invent'),
        ({'VCPU': {'total': 0}}, agent_errors.TreeError, 'VCPU: total 0'),
        (
            {'VCPU': {'total': 1, 'reserved': 2}},
            agent_errors.TreeError,
            'VCPU: reserved 2 is more than total 1: to offer nothing',
        ),
        ({'vcpu': {'total': 1}}, agent_errors.InvalidName, "class 'vcpu'"),
    ],
)
def test_a_value_out_of_range_is_refused(
    placement, providers, one, records, kind, said
):
    with pytest.raises(kind, match=said):
        providers.set_inventory(one, records)
    assert placement.writes == []


def test_classes_that_are_not_there_are_named(providers, one, operator):
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.set_inventory(one, {'CUSTOM_X': {'total': 1}})
    assert str(raised.value) == ('placement knows no resource class CUSTOM_X')
    with pytest.raises(
        errors.DoesNotExist, match='no resource class CUSTOM_X, CU'
    ):
        providers.set_inventory(
            one, {'CUSTOM_X': {'total': 1}, 'CUSTOM_Y': {'total': 1}}
        )
    assert operator.inventories() == {}


def test_custom_classes_are_created_where_that_is_wanted(
    providers, one, operator
):
    providers.set_inventory(one, {'CUSTOM_X': {'total': 1}}, create=True)
    assert operator.inventories()['CUSTOM_X']['total'] == 1


def test_a_standard_class_is_never_created(placement, providers, one):
    with pytest.raises(errors.DoesNotExist, match='did you mean VCPU'):
        providers.set_inventory(one, {'VCPUS': {'total': 1}}, create=True)
    assert [r.method for r in placement.writes] == ['PUT']


def test_what_is_read_of_a_provider_that_is_gone_is_no_empty_set(
    providers, one, operator
):
    operator.delete(NODE)
    for read in (providers.aggregates, providers.inventories):
        with pytest.raises(errors.NotFound) as raised:
            read(one)
        assert str(raised.value) == f'{NAME} ({NODE}) is gone'


def test_a_provider_that_goes_before_it_is_written_is_named(
    placement, providers, one, operator
):
    meddle(placement, lambda: operator.delete(NODE))
    with pytest.raises(errors.NotFound) as raised:
        providers.set_inventory(one, {'VCPU': {'total': 1}})
    assert str(raised.value) == f'{NAME} ({NODE}) is gone'


def test_of_several_classes_those_are_named_that_stand_in_the_way(
    placement, providers, one
):
    records = {'CUSTOM_X': {'total': 1}, 'VCPUS': {'total': 1}}
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.set_inventory(one, records)
    assert str(raised.value) == (
        'placement knows no resource class CUSTOM_X, VCPUS'
    )
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.set_inventory(one, records, create=True)
    assert str(raised.value) == (
        'placement knows no resource class VCPUS; did you mean VCPU?'
    )


@pytest.mark.parametrize(
    'act',
    [
        lambda api, one: api.add_traits(one, 'COMPUTE_NODE'),
        lambda api, one: api.remove_traits(one, 'COMPUTE_NODE'),
        lambda api, one: api.set_traits(one, 'COMPUTE_NODE'),
        lambda api, one: api.add(one, AGGREGATES, AGG1),
    ],
)
def test_a_bare_string_is_no_collection(placement, providers, one, act):
    with pytest.raises(agent_errors.InvalidName, match='is one string where'):
        act(providers, one)
    assert placement.requests == []
