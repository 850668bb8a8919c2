# SPDX-License-Identifier: Apache-2.0
"""An answer with candidates is complete, or an error."""

import copy

import pytest

from report_client import errors
from report_client.candidates.values import answer as candidates_answer
from report_client.candidates.values.answer import Allocation, Offer, Summary

NODE, DISK = 'node', 'disk'
BODY = {
    'allocation_requests': [
        {
            'allocations': {
                NODE: {'resources': {'VCPU': 2, 'MEMORY_MB': 512}},
                DISK: {'resources': {'DISK_GB': 10}},
            },
            'mappings': {'': [NODE, DISK], '1': [NODE]},
        },
        {
            'allocations': {NODE: {'resources': {'DISK_GB': 10}}},
            'mappings': {'': [NODE]},
        },
    ],
    'provider_summaries': {
        NODE: {
            'resources': {'VCPU': {'capacity': 8, 'used': 9}},
            'traits': ['CUSTOM_A'],
            'parent_provider_uuid': None,
            'root_provider_uuid': NODE,
        },
        DISK: {
            'resources': {},
            'traits': [],
            'parent_provider_uuid': NODE,
            'root_provider_uuid': NODE,
        },
    },
}


def test_it_is_read_into_values():
    answer = candidates_answer.read(BODY)
    assert answer.allocations[0] == Allocation(
        resources={
            NODE: {'VCPU': 2, 'MEMORY_MB': 512},
            DISK: {'DISK_GB': 10},
        },
        mappings={'': (DISK, NODE), '1': (NODE,)},
    )
    assert answer.summaries[NODE] == Summary(
        uuid=NODE,
        parent_uuid=None,
        root_uuid=NODE,
        traits=frozenset({'CUSTOM_A'}),
        offers={'VCPU': Offer(capacity=8, used=9)},
    )
    assert answer.summaries[DISK].parent_uuid == NODE
    assert answer.classes_by_provider() == {
        NODE: {'VCPU', 'MEMORY_MB', 'DISK_GB'},
        DISK: {'DISK_GB'},
    }


def test_what_is_free_is_never_less_than_nothing():
    assert Offer(capacity=8, used=9).free == 0
    assert Offer(capacity=8, used=6).free == 2


def test_an_older_placement_sends_no_mappings():
    body = copy.deepcopy(BODY)
    for one in body['allocation_requests']:
        del one['mappings']
    answer = candidates_answer.read(body)
    assert [one.mappings for one in answer.allocations] == [{}, {}]


def broken(*path, value=None):
    """Return the body with another value at a place, or without it."""
    body = copy.deepcopy(BODY)
    place = body
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return body


SUMMARY = ('provider_summaries', NODE)


@pytest.mark.parametrize(
    'body',
    [
        None,
        [],
        {},
        'text',
        broken('provider_summaries'),
        broken('provider_summaries', value=[]),
        broken('allocation_requests'),
        broken('allocation_requests', value={'a': 1}),
        broken('allocation_requests', 0, 'allocations'),
        broken('allocation_requests', 0, 'allocations', value=[1]),
        broken(
            'allocation_requests',
            0,
            'allocations',
            NODE,
            'resources',
            'VCPU',
            value='2',
        ),
        broken('allocation_requests', 0, 'mappings', value=[1]),
        broken('provider_summaries', DISK),
        broken(*SUMMARY, 'traits'),
        broken(*SUMMARY, 'traits', value=1),
        broken(*SUMMARY, 'resources'),
        broken(*SUMMARY, 'resources', 'VCPU', 'used'),
        broken(*SUMMARY, 'resources', 'VCPU', 'capacity', value=1.5),
        broken(*SUMMARY, 'root_provider_uuid'),
        broken(*SUMMARY, 'parent_provider_uuid'),
        broken(*SUMMARY, 'parent_provider_uuid', value=7),
        # A parent that is not there, itself, and a circle.
        broken(*SUMMARY, 'parent_provider_uuid', value='other'),
        broken(*SUMMARY, 'parent_provider_uuid', value=NODE),
        broken(*SUMMARY, 'parent_provider_uuid', value=DISK),
    ],
)
def test_an_answer_of_another_shape_says_nothing(body):
    with pytest.raises(errors.MalformedAnswer, match='request for candid'):
        candidates_answer.read(body)


@pytest.mark.parametrize(
    ('parent', 'said'),
    [
        ('other', 'no summary of the parent other'),
        (DISK, 'node is above itself'),
    ],
)
def test_parents_that_lead_nowhere_are_named(parent, said):
    body = broken(*SUMMARY, 'parent_provider_uuid', value=parent)
    with pytest.raises(errors.MalformedAnswer, match=said):
        candidates_answer.read(body)
