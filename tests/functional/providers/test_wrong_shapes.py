# SPDX-License-Identifier: Apache-2.0
"""What Python code gives the typed API in another shape than it has.

It is the project's own error, in one line, before any request.
"""

import pytest

from compute_agent import errors
from report_client.api.content_kinds import AGGREGATES
from report_client.api.resource_classes import ResourceClasses
from report_client.api.traits import Traits
from report_client.api.values import trait_query
from report_client.http.messages import codec

UUID = '11111111-1111-4111-8111-111111111111'
ONE = codec.ListedProvider(
    uuid=UUID, name='cn1', generation=0, parent_uuid=None, root_uuid=UUID
)

OF_COLLECTIONS = {
    'add_traits': lambda api, given: api.add_traits(ONE, given),
    'remove_traits': lambda api, given: api.remove_traits(ONE, given),
    'set_traits': lambda api, given: api.set_traits(ONE, given),
    'add_aggregates': lambda api, given: api.add(ONE, AGGREGATES, given),
    'remove_aggregates': lambda api, given: api.remove(ONE, AGGREGATES, given),
    'check_traits': lambda api, given: Traits(api._service).check(given),
    'check_classes': lambda api, given: ResourceClasses(api._service).check(
        given
    ),
    'create': lambda api, given: api.create('cn1', aggregates=given),
}
OF_A_PROVIDER = {
    'traits': lambda api, one: api.traits(one),
    'inventories': lambda api, one: api.inventories(one),
    'aggregates': lambda api, one: api.aggregates(one),
    'add_traits': lambda api, one: api.add_traits(one, ['COMPUTE_NODE']),
    'clear_traits': lambda api, one: api.clear_traits(one),
    'add_aggregates': lambda api, one: api.add(one, AGGREGATES, [UUID]),
    'set_inventory': lambda api, one: api.set_inventory(
        one, {'VCPU': {'total': 8}}
    ),
    'delete': lambda api, one: api.delete(one),
}


@pytest.fixture(autouse=True)
def nothing_is_asked(placement):
    """Whatever was refused, placement was not asked."""
    yield
    assert placement.requests == []


def refused(act, *args, **named):
    """Return the one line that an act was refused with."""
    with pytest.raises((errors.InvalidName, errors.TreeError)) as raised:
        act(*args, **named)
    said = str(raised.value)
    assert '\n' not in said
    return said


@pytest.mark.parametrize(
    'given', ['COMPUTE_NODE', None, 7, b'COMPUTE_NODE', 7.5]
)
@pytest.mark.parametrize('method', OF_COLLECTIONS)
def test_what_is_no_collection_is_refused(providers, method, given):
    said = refused(OF_COLLECTIONS[method], providers, given)
    assert 'where a collection of names belongs' in said


@pytest.mark.parametrize('given', [[None], [['COMPUTE_NODE']], {5}])
@pytest.mark.parametrize('method', OF_COLLECTIONS)
def test_what_is_no_name_in_a_collection_is_refused(providers, method, given):
    said = refused(OF_COLLECTIONS[method], providers, given)
    assert 'is not a name' in said or 'is not a uuid' in said


@pytest.mark.parametrize('one', ['cn1', UUID, None, 5, {'uuid': UUID}])
@pytest.mark.parametrize('method', OF_A_PROVIDER)
def test_what_is_no_provider_is_refused(providers, method, one):
    said = refused(OF_A_PROVIDER[method], providers, one)
    assert 'is not a provider: Providers.find() returns' in said


@pytest.mark.parametrize(
    ('records', 'hint'),
    [
        ('VCPU', "for example {'VCPU': {'total': 8}}"),
        (None, "for example {'VCPU': {'total': 8}}"),
        (['VCPU'], "for example {'VCPU': {'total': 8}}"),
        ({'VCPU': 8}, 'VCPU: 8 is not a mapping of fields: give them by'),
        ({'VCPU': None}, "for example {'total': 8}"),
        ({'VCPU': 'total'}, "for example {'total': 8}"),
        ({None: {'total': 8}}, 'resource class None is not a name'),
    ],
)
def test_what_is_no_inventory_is_refused(providers, records, hint):
    assert hint in refused(providers.set_inventory, ONE, records)


@pytest.mark.parametrize('word', [None, 7, '', ['cn1'], ONE])
def test_what_no_provider_is_called_is_not_looked_for(providers, word):
    assert 'provider name' in refused(providers.find, word)


@pytest.mark.parametrize('query', ['COMPUTE_NODE', ['COMPUTE_NODE'], '', 0])
def test_a_list_takes_a_query_and_nothing_else(providers, query):
    assert 'is not a ProviderQuery' in refused(providers.list_providers, query)


@pytest.mark.parametrize(
    ('named', 'said'),
    [
        ({'name': None}, 'provider name None'),
        ({'uuid': ''}, "provider '' is not a uuid"),
        ({'uuid': 5}, 'provider 5 is not a uuid'),
        ({'parent': ''}, "parent '' is not a uuid"),
        ({'parent': ONE}, 'is not a uuid'),
    ],
)
def test_nothing_is_created_of_another_shape(providers, named, said):
    assert said in refused(providers.create, **{'name': 'cn1', **named})


@pytest.mark.parametrize('name', [None, 7, '', b'CUSTOM_A', ['CUSTOM_A']])
@pytest.mark.parametrize('method', ['exists', 'add', 'remove', 'holders'])
def test_what_is_no_trait_is_refused(traits, method, name):
    said = refused(getattr(traits, method), name)
    assert 'is not a name placement takes' in said


@pytest.mark.parametrize('given', ['COMPUTE_NODE', 7, b'COMPUTE_NODE'])
def test_of_traits_a_collection_is_asked_for(traits, given):
    said = 'where a collection of names belongs'
    assert said in refused(traits.names, name_in=given)
    assert said in refused(traits.missing, given)
    assert said in refused(traits.does_not_exist, given)


@pytest.mark.parametrize('given', ['yes', 'True', 1, 0, ['yes']])
def test_associated_is_true_or_false(traits, given):
    said = refused(traits.names, associated=given)
    assert said.endswith('use True, False or None')


@pytest.mark.parametrize('given', [7, '', ['CUSTOM_']])
def test_a_beginning_is_a_string(traits, given):
    assert 'the beginning of a trait' in refused(traits.names, given)


@pytest.mark.parametrize('field', ['required', 'any_of', 'forbidden'])
@pytest.mark.parametrize('given', ['COMPUTE_NODE', None, (7,), (None,)])
def test_a_query_of_another_shape_is_refused(field, given):
    refused(trait_query.TraitQuery, **{field: given})


@pytest.mark.parametrize('given', ['COMPUTE_NODE', None, [7], [None]])
def test_options_are_a_collection_of_texts(given):
    refused(trait_query.TraitQuery.parse, given)
