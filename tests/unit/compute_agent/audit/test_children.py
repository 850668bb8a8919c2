# SPDX-License-Identifier: Apache-2.0
"""Providers without contents, and children that this agent does not know."""

import pytest
from audited_cloud import Cloud, Kind, Level, uuid_of

from compute_agent.audit import audit, cloud

CPUS = {'VCPU': {'total': 8}}


@pytest.fixture
def some():
    made = Cloud()
    made.root('cn1', inventories=CPUS)
    made.hypervisor('cn1')
    return made


CN1 = uuid_of('cn1')


def test_an_empty_child_is_orphaned(some):
    uuid = some.child('pci', CN1)
    only = some.one(Kind.ORPHANED_CHILD)
    assert only.subject == f'pci ({uuid}), below cn1 ({CN1})'
    assert some.repairs == [f'delete provider pci ({uuid})']


@pytest.mark.parametrize(
    'contents',
    [
        {'traits': ['CUSTOM_X']},
        {'inventories': CPUS},
        {'aggregates': [uuid_of('rack')]},
    ],
)
def test_a_child_with_contents_is_not(some, contents):
    some.child('pci', CN1, **contents)
    assert not some.found()


def test_a_child_that_this_agent_recorded_is_not(some):
    uuid = some.child('pci', CN1)
    some.agent = cloud.Agent(recorded=frozenset({uuid}))
    assert not some.found()


def test_a_child_that_could_not_be_read_is_not(some):
    del some.contents[some.child('pci', CN1)]
    assert not some.found()


def test_an_empty_child_above_one_with_contents_is_a_group(some):
    numa = some.child('numa', CN1)
    some.child('cpus', numa, inventories=CPUS)
    assert not some.found()


def test_an_empty_group_goes_as_a_whole(some):
    numa = some.child('numa', CN1)
    some.child('cpus', numa)
    assert some.one(Kind.ORPHANED_CHILD).repair.providers[-1].name == 'numa'
    assert len(some.repairs) == 1


def test_only_the_empty_part_of_a_group_goes(some):
    numa = some.child('numa', CN1)
    some.child('cpus', numa, inventories=CPUS)
    some.child('old', numa)
    only = some.one(Kind.ORPHANED_CHILD)
    assert [one.name for one in only.repair.providers] == ['old']


def test_an_empty_root_is_shown_and_not_deleted(some):
    some.sharing.add(some.root('pool', marked=False))
    only = some.one(Kind.EMPTY_PROVIDER)
    assert only.repair is None


def test_the_children_of_a_dead_host_are_part_of_it(some):
    del some.hypervisors[CN1]
    some.child('pci', CN1)
    assert [one.kind for one in some.found()] == [Kind.DEAD_HOST]


def test_a_child_of_another_writer_is_a_note_in_a_tree_of_this_agent(some):
    uuid = some.child('bridge', CN1, traits=['CUSTOM_PHYSNET'])
    assert not some.found()
    some.agent = cloud.Agent(roots=frozenset({CN1}))
    only = some.one(Kind.UNRECORDED_CHILD)
    assert only.level is Level.NOTE
    assert str(uuid) in only.subject


def test_the_contents_of_few_providers_are_read(some):
    child = some.child('pci', CN1)
    some.child('gpu', CN1, traits=['CUSTOM_X'])
    dead = some.root('cn2', traits=['CUSTOM_X'])
    part = some.child('cn2-gpu', dead, traits=['CUSTOM_X'])
    suspects = audit.suspects(some.value)
    assert suspects.traitless == {child}
    assert suspects.dead == {dead, part}
