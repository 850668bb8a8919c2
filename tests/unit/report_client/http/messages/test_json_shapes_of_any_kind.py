# SPDX-License-Identifier: Apache-2.0
"""Any JSON at all is read or malformed: no other error comes out of it."""

import contextlib
import copy

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent.tree.assertion import Kind
from report_client import errors
from report_client.http.messages import codec

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**300, max_value=10**600)
    | st.floats()
    | st.text(max_size=5)
)
words = st.sampled_from(
    [
        'resource_providers',
        'uuid',
        'generation',
        'resource_provider_generation',
        'traits',
        'aggregates',
        'inventories',
        'total',
        'allocation_ratio',
        'resource_classes',
        'allocations',
        'resources',
        'name',
    ]
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(words | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
row = {
    'uuid': 'u',
    'name': 'n',
    'generation': 1,
    'parent_provider_uuid': None,
    'root_provider_uuid': 'u',
}
DOCUMENTED = {
    'list': (codec.listed_providers, {'resource_providers': [row]}),
    'created': (codec.created_generation, row),
    'traits': (
        lambda body: codec.contents(Kind.TRAIT, body),
        {'resource_provider_generation': 1, 'traits': ['A']},
    ),
    'aggregates': (
        lambda body: codec.contents(Kind.AGGREGATE, body),
        {'resource_provider_generation': 1, 'aggregates': ['u']},
    ),
    'inventories': (
        lambda body: codec.contents(Kind.INVENTORY, body),
        {
            'resource_provider_generation': 1,
            'inventories': {'VCPU': {'total': 1, 'allocation_ratio': 1.0}},
        },
    ),
    'written': (
        codec.generation_after,
        {'resource_provider_generation': 1},
    ),
    'allocated': (
        codec.allocated,
        {
            'resource_provider_generation': 1,
            'allocations': {'c': {'resources': {'VCPU': 1}}},
        },
    ),
    'all traits': (codec.traits, {'traits': ['A']}),
    'all classes': (
        codec.resource_classes,
        {'resource_classes': [{'name': 'VCPU'}]},
    ),
}
law = settings(max_examples=examples(60), deadline=None)


def places(body, above=()):
    """Every place in a body, as the steps that lead there."""
    yield above
    if isinstance(body, dict):
        for key, value in body.items():
            yield from places(value, (*above, key))
    if isinstance(body, list):
        for number, value in enumerate(body):
            yield from places(value, (*above, number))


def put(body, place, value):
    """Return the body with something else in one place."""
    if not place:
        return value
    body = copy.copy(body)
    body[place[0]] = put(body[place[0]], place[1:], value)
    return body


@pytest.mark.parametrize('reader', DOCUMENTED)
@law
@given(data=st.data())
def test_any_json_is_read_or_malformed(reader, data):
    read, _ = DOCUMENTED[reader]
    body = data.draw(anything)
    with contextlib.suppress(errors.MalformedAnswer):
        read(body)


@pytest.mark.parametrize('reader', DOCUMENTED)
@law
@given(data=st.data())
def test_so_is_an_answer_with_anything_in_one_place(reader, data):
    read, body = DOCUMENTED[reader]
    place = data.draw(st.sampled_from(list(places(body))))
    changed = put(body, place, data.draw(anything))
    with contextlib.suppress(errors.MalformedAnswer):
        read(changed)


@pytest.mark.parametrize('reader', DOCUMENTED)
def test_the_documented_answers_are_read(reader):
    read, body = DOCUMENTED[reader]
    read(body)
