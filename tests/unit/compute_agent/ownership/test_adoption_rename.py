# SPDX-License-Identifier: Apache-2.0
"""The new name of a provider is one that its driver uses."""

import dataclasses

import pytest

from compute_agent import errors
from compute_agent.ownership import adoption
from compute_agent.tree import provider_tree
from compute_agent.tree.node import Node

ROOT = '11111111-1111-4111-8111-111111111111'
NODE = Node(uuid=ROOT, name='cn2')


@dataclasses.dataclass(frozen=True)
class Row:
    """A provider as placement lists it."""

    uuid: str
    name: str
    parent_uuid: str | None = None
    generation: int = 1


HOST = Row(ROOT, 'cn1')
SHARED = Row('22222222-2222-4222-8222-222222222222', 'nfs')
GPU = Row(provider_tree.derived_uuid(ROOT, 'gpu'), 'gpu', ROOT)


@pytest.mark.parametrize('wanted', [None, 'cn2'])
def test_a_node_gets_the_name_that_its_driver_uses(wanted):
    assert adoption.new_name(HOST, [NODE], wanted) == 'cn2'


def test_a_node_gets_no_other_name():
    with pytest.raises(errors.ConfigError, match='calls this node cn2'):
        adoption.new_name(HOST, [NODE], 'cn3')


def test_another_provider_gets_the_given_name():
    assert adoption.new_name(SHARED, [NODE], 'nas') == 'nas'


def test_another_provider_needs_a_name():
    with pytest.raises(errors.ConfigError, match='add NEW_NAME'):
        adoption.new_name(SHARED, [NODE], None)


def test_a_created_child_keeps_the_name_that_its_uuid_was_derived_from():
    with pytest.raises(errors.ConfigError, match='calls this provider gpu'):
        adoption.check_created(GPU, 'gpu0', {GPU.uuid})


@pytest.mark.parametrize(
    ('row', 'name', 'created'),
    [
        (GPU, 'gpu', {GPU.uuid}),
        (GPU, 'gpu0', set()),
        (SHARED, 'nas', {SHARED.uuid}),
    ],
)
def test_other_providers_may_be_renamed(row, name, created):
    adoption.check_created(row, name, created)


def test_only_a_child_has_a_derived_uuid():
    assert adoption.is_derived(GPU, 'gpu')
    assert not adoption.is_derived(GPU, 'gpu0')
    assert not adoption.is_derived(HOST, 'cn1')
