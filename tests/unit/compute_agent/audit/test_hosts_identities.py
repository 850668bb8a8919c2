# SPDX-License-Identifier: Apache-2.0
"""Hosts that were installed again or renamed, and names of one host."""

import pytest
from audited_cloud import Cloud, Kind, uuid_of

from compute_agent.audit import hosts


@pytest.fixture
def some():
    return Cloud()


@pytest.mark.parametrize(
    ('one', 'other', 'similar'),
    [
        ('cn1', 'CN1', True),
        ('cn1', 'cn1.example.com', True),
        ('cn1.example.com', 'CN1', True),
        ('cn1.example.com.', 'cn1.example.com', True),
        ('cn1.a', 'cn1.b', False),
        ('cn1', 'cn10', False),
        ('10.0.0.1', '10.0.0.2', False),
        ('10', '10.0.0.1', False),
        (uuid_of('a'), uuid_of('b'), False),
        ('', '', True),
    ],
)
def test_names_of_one_host(one, other, similar):
    assert hosts.are_similar(one, other) is similar
    assert bool(hosts.Index([one]).similar(other)) is similar


def test_two_names_of_a_host_are_shown_with_the_one_that_nova_knows(some):
    some.root('cn1')
    some.root('cn1.example.com')
    some.hypervisor('cn1.example.com')
    only = some.one(Kind.SIMILAR_NAMES)
    known = uuid_of('cn1.example.com')
    assert only.why.endswith(f'nova knows only cn1.example.com ({known})')
    assert only.repair is None


def test_two_hypervisors_with_similar_names_are_shown_as_such(some):
    for name in ('cn1', 'CN1'):
        some.root(name)
        some.hypervisor(name)
    (only,) = some.found(Kind.SIMILAR_NAMES)
    assert 'nova knows both' in only.why


def test_without_nova_similar_names_are_still_shown(some):
    some.root('cn1')
    some.root('CN1')
    some.nova = {'problem': 'nova was not asked'}
    (only,) = some.found(Kind.SIMILAR_NAMES)
    assert only.why.endswith('nova was not asked')


def test_a_host_under_a_new_uuid_is_shown_with_the_command(some):
    some.root('cn1')
    some.hypervisor('cn1', uuid_of('new'))
    only = some.one(Kind.REINSTALLED)
    assert f'hypervisor {uuid_of("new")}' in only.why
    assert only.advice.endswith('there: compute-agent approve')


def test_a_renamed_host_is_shown_with_the_command(some):
    some.root('cn1')
    some.hypervisor('cn2', uuid_of('cn1'))
    only = some.one(Kind.RENAMED)
    assert only.advice.endswith(
        f'resource provider rename {uuid_of("cn1")} cn2'
    )


def test_a_hypervisor_without_provider_is_shown(some):
    some.hypervisor('cn1')
    assert some.one(Kind.UNREPORTED).subject == f'cn1 ({uuid_of("cn1")})'


def test_an_ironic_node_that_is_not_reported_yet_is_normal(some):
    some.hypervisor(uuid_of('node'), uuid_of('node'))
    assert not some.found()


def test_a_host_as_nova_knows_it_is_right(some):
    some.root('cn1')
    some.hypervisor('cn1')
    assert not some.found()
