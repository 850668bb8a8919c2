# SPDX-License-Identifier: Apache-2.0
"""A host lacks a trait if at least four of five peers have it."""

import pytest
from audited_cloud import Cloud, Kind, Level, uuid_of

VCPU = {'VCPU': {'total': 8}}


def hosts(having, lacking, trait='HW_CPU_X86_AVX2', **contents):
    """Return a cloud in which so many hosts have a trait, and others not."""
    made = Cloud()
    made.placement = {'is_complete': True}
    for number in range(having + lacking):
        traits = [trait] if number < having else []
        made.hypervisor(f'cn{number}')
        made.root(
            f'cn{number}', traits=traits, **({'inventories': VCPU} | contents)
        )
    return made


def lacking(made):
    return [one.subject.split()[0] for one in made.found(Kind.UNLIKE_PEERS)]


def test_the_host_without_the_trait_of_its_peers_is_noted():
    one = hosts(4, 1).one(Kind.UNLIKE_PEERS)
    assert one.level is Level.NOTE
    assert one.subject == f'cn4 ({uuid_of("cn4")})'
    assert one.why == (
        'it lacks HW_CPU_X86_AVX2, which 4 of 5 hosts with the same classes '
        '(VCPU) have'
    )
    assert one.advice == (
        'on that host: compute-agent explain HW_CPU_X86_AVX2'
    )


@pytest.mark.parametrize(
    ('having', 'without', 'found'),
    [(3, 1, 0), (3, 2, 0), (5, 0, 0), (8, 2, 2), (79, 21, 0), (80, 20, 20)],
)
def test_the_threshold_is_four_of_five(having, without, found):
    assert len(lacking(hosts(having, without))) == found


@pytest.mark.parametrize(
    'trait',
    ['COMPUTE_STATUS_DISABLED', 'CUSTOM_COMPUTE_AGENT_RACK1_0123456789AB'],
)
def test_a_trait_that_tells_a_state_does_not_count(trait):
    assert lacking(hosts(9, 1, trait)) == []


def test_hosts_with_other_classes_are_no_peers_unless_an_aggregate_is_theirs():
    made = hosts(5, 0)
    made.hypervisor('gpu')
    made.root('gpu', inventories={'VCPU': {'total': 8}, 'VGPU': {'total': 1}})
    assert lacking(made) == []
    made = hosts(5, 0, aggregates=['rack'])
    made.hypervisor('gpu')
    made.root('gpu', inventories={'VGPU': {'total': 1}}, aggregates=['rack'])
    (one,) = made.found(Kind.UNLIKE_PEERS)
    assert '5 of 6 hosts of the aggregate rack' in one.why


@pytest.mark.catches('bare-metal nodes are peers of hypervisors')
def test_bare_metal_nodes_and_hypervisors_of_an_aggregate_are_no_peers():
    made = hosts(9, 0, 'COMPUTE_VOLUME_ATTACH', aggregates=['rack'])
    for number in range(2):
        gold = {'CUSTOM_BAREMETAL_GOLD': {'total': 1}}
        made.root(f'node{number}', inventories=gold, aggregates=['rack'])
    assert lacking(made) == []
    for number in range(2, 10):
        made.root(
            f'node{number}',
            inventories=gold,
            aggregates=['rack'],
            traits=['CUSTOM_RAID'],
        )
    assert lacking(made) == ['node0', 'node1']


def test_hosts_of_different_architectures_are_no_peers():
    made = hosts(9, 1, 'HW_ARCH_X86_64', aggregates=['rack'])
    assert lacking(made) == ['cn9']
    arm = {'inventories': VCPU, 'traits': ['HW_ARCH_AARCH64']}
    made.root('cn9', aggregates=['rack'], **arm)
    assert lacking(made) == []


def test_a_gap_is_told_once_for_all_groups():
    assert lacking(hosts(9, 1, aggregates=['rack', 'zone'])) == ['cn9']


def test_a_host_that_was_not_read_completely_is_no_peer():
    made = hosts(4, 1)
    del made.contents[uuid_of('cn0')]
    assert lacking(made) == []
    made = hosts(4, 1)
    made.placement = {}
    assert lacking(made) == []
