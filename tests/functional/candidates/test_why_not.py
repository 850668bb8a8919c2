# SPDX-License-Identifier: Apache-2.0
"""Why one is not a candidate: the cases operators ask about, in words."""

import dataclasses
import time

import pytest
from small_cloud import AGGREGATE, RACK, SHARES, Made, build, build_first, uuid

from compute_agent import errors as agent_errors
from report_client import errors
from report_client.api.values.provider_query import MemberOf
from report_client.candidates.values.query import Group, Request, TraitQuery
from report_client.candidates.why_not import why_not

FULL = 'VCPU: 2 | cn1 | 2 asked, 1 of 8 free (total 8, reserved 0, used 7, '


@pytest.fixture
def rack(placement):
    """The rack of two compute nodes and a share."""
    build_first(placement.others, RACK, placement)
    placement.clear()


@pytest.fixture
def why(service, providers, placement):
    """Return what keeps a provider out, a line for each."""

    def ask(name, request):
        one = providers.find(name)
        placement.clear()
        found = why_not.WhyNot(service, time.time).explain(request, one)
        assert found.doubts == ()
        return [
            f'{" + ".join(p.text for p in f.requirements)} | {f.nearest} | '
            f'{f.why}'
            for f in found.failures
        ]

    return ask


def group(name='', *, required='', **resources):
    traits = TraitQuery.parse([required] if required else [])
    return Group(name=name, resources=resources, traits=traits)


def asked(*, required='', **resources):
    return Request.of(group(required=required, **resources))


@pytest.mark.parametrize('name', ['cn1', 'cn1_pf1', uuid(1)])
@pytest.mark.usefixtures('rack')
def test_of_a_candidate_nothing_is_said_and_one_thing_asked(
    why, placement, name
):
    assert why(name, asked(VCPU=1)) == []
    assert len(placement.requests) == 1


@pytest.mark.usefixtures('rack')
def test_an_amount_is_said_with_what_is_free_of_it(why):
    assert why('cn1', asked(VCPU=2)) == [f'{FULL}ratio 1.0)']


@pytest.mark.usefixtures('rack')
def test_all_that_fails_is_said_at_once(why):
    request = asked(VCPU=2, DISK_GB=5, required='!CUSTOM_GOLD,HW_CPU_X86_AVX2')
    assert why('cn1', request) == [
        (
            'DISK_GB: 5 | nfs | 5 asked, 100 of 100 free (total 100, reserved 0, '
            'used 0, ratio 1.0), at least 10 at a time (min_unit)'
        ),
        f'{FULL}ratio 1.0)',
        'CUSTOM_GOLD forbidden | cn1 | it has this trait',
    ]


@pytest.mark.usefixtures('rack')
def test_a_missing_trait_is_said(why):
    assert why('cn2', asked(VCPU=1, required='CUSTOM_GOLD')) == [
        'CUSTOM_GOLD required | cn2 | cn2 does not have this trait'
    ]


@pytest.mark.usefixtures('rack')
def test_a_shared_disk_is_not_held_against_a_node_without_one(why):
    assert why('cn1', asked(VCPU=2, DISK_GB=10)) == [f'{FULL}ratio 1.0)']


@pytest.mark.usefixtures('rack')
def test_nor_is_a_condition_that_the_share_meets(why):
    disk = {'DISK_GB': 10}
    fast = group('1', required='STORAGE_DISK_SSD', **disk)
    slow = group('1', required='STORAGE_DISK_HDD', **disk)
    failing = [f'{FULL}ratio 1.0)']
    assert why('cn1', Request.of(group(VCPU=2), fast)) == failing
    assert why('cn1', Request.of(group(VCPU=2), slow)) == [
        *failing,
        (
            'STORAGE_DISK_HDD required (group 1) | nfs | no provider in its tree '
            'has this trait, nor has any provider that shares with it'
        ),
    ]


@pytest.mark.usefixtures('rack')
def test_a_share_is_asked_about_like_a_node(why):
    assert why('nfs', asked(VCPU=1, DISK_GB=10)) == []
    assert why('nfs', asked(VCPU=1, DISK_GB=200)) == [
        (
            'DISK_GB: 200 | nfs | 200 asked, 100 of 100 free (total 100, reserved '
            '0, used 0, ratio 1.0)'
        )
    ]
    # The only node that could have it with the share is full.
    assert why('nfs', asked(VCPU=2, DISK_GB=10)) == [
        (
            'VCPU: 2 | nfs | 2 asked; nfs has none, so a tree that it shares with '
            'must provide it'
        )
    ]


@pytest.mark.usefixtures('rack')
def test_a_request_for_what_is_shared_alone_is_not_for_the_node(why):
    assert why('cn1', asked(DISK_GB=10)) == [
        (
            'DISK_GB: 10 | nfs | 10 asked, 100 of 100 free (total 100, reserved '
            '0, used 0, ratio 1.0), it could provide that, but cn1 '
            'would provide nothing'
        )
    ]


@pytest.mark.usefixtures('rack')
def test_a_group_needs_one_provider_that_meets_all_of_it(why):
    request = Request.of(
        group(VCPU=1), group('1', required='CUSTOM_PHYSNET_A', SRIOV_NET_VF=1)
    )
    assert why('cn1', request) == [
        (
            'CUSTOM_PHYSNET_A required (group 1) | cn1_pf1 | it has '
            'CUSTOM_PHYSNET_A, but SRIOV_NET_VF: 1 asked, 0 of 4 free (total 4, '
            'reserved 0, used 4, ratio 1.0)'
        )
    ]


@pytest.mark.usefixtures('rack')
def test_the_unnamed_group_may_have_traits_on_any_who_gives_something(why):
    request = asked(
        VCPU=1, SRIOV_NET_VF=1, required='CUSTOM_GOLD,CUSTOM_PHYSNET_B'
    )
    assert why('cn1', request) == []


@pytest.mark.usefixtures('rack')
def test_what_fails_together_only_is_said_together(why):
    request = Request(
        groups=(group('1', SRIOV_NET_VF=3), group('2', SRIOV_NET_VF=3)),
        group_policy='none',
    )
    assert why('cn1', request) == [
        (
            'SRIOV_NET_VF: 3 (group 1) + SRIOV_NET_VF: 3 (group 2) | cn1_pf2 | '
            'each can be met, but not together: SRIOV_NET_VF: 3 asked, 4 of 4 '
            'free (total 4, reserved 0, used 0, ratio 1.0) on cn1_pf2'
        )
    ]


@pytest.mark.usefixtures('rack')
def test_a_group_whose_amounts_are_on_two_providers_fails_together(why):
    request = Request.of(group('1', VCPU=1, SRIOV_NET_VF=1))
    (line,) = why('cn1', request)
    assert line.startswith('SRIOV_NET_VF: 1 (group 1) + VCPU: 1 (group 1) | ')


@pytest.mark.usefixtures('rack')
def test_isolated_groups_need_a_provider_each(why):
    groups = (group('1', SRIOV_NET_VF=1), group('2', SRIOV_NET_VF=1))
    request = Request(groups=groups, group_policy='isolate')
    assert why('cn1', request) == [
        (
            'a provider for each of the groups 1, 2 | cn1 | there is no '
            'separate provider for each group'
        )
    ]


@pytest.mark.usefixtures('rack')
def test_groups_in_one_subtree_need_one_above_the_others(why):
    groups = (group('1', SRIOV_NET_VF=1), group('2', VCPU=1))
    request = Request(
        groups=(*groups, group('_ONLY', required='CUSTOM_PHYSNET_A')),
        group_policy='none',
        same_subtree=(('1', '_ONLY'),),
    )
    (line,) = why('cn1', request)
    assert 'the groups 1, _ONLY in one subtree' in line
    assert 'CUSTOM_PHYSNET_A required (group _ONLY)' in line


@pytest.mark.parametrize(
    ('more', 'words'),
    [
        (
            {'member_of': (MemberOf(aggregates=(uuid(77),)),)},
            f'in aggregate {uuid(77)} | cn1 | it is in {AGGREGATE}',
        ),
        (
            {
                'member_of': (
                    MemberOf(aggregates=(AGGREGATE,), forbidden=True),
                )
            },
            f'not in aggregate {AGGREGATE} | cn1 | it is in {AGGREGATE}',
        ),
        (
            {'in_tree': uuid(4)},
            (f'in the tree of {uuid(4)} | cn1 | it is in another tree, that '
            'of cn1'),
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize('count', [1, 99])
@pytest.mark.usefixtures('rack')
def test_aggregates_and_trees_are_said_also_beside_an_amount(
    why, more, words, count
):
    request = Request.of(group(VCPU=count), Group(**more))
    assert why('cn1', request)[-1] == words


@pytest.mark.parametrize('count', [1, 99])
@pytest.mark.usefixtures('rack')
def test_traits_of_the_root_are_said(why, count):
    request = dataclasses.replace(
        asked(VCPU=count),
        root_required=TraitQuery(
            required=('STORAGE_DISK_SSD',), forbidden=('CUSTOM_GOLD',)
        ),
    )
    assert why('cn1', request)[-2:] == [
        (
            'STORAGE_DISK_SSD required of the root | cn1 | the root does not have '
            'this trait'
        ),
        'CUSTOM_GOLD forbidden to the root | cn1 | the root has this trait',
    ]


@pytest.mark.usefixtures('rack')
def test_a_trait_that_an_amount_hides_is_said_only_if_it_is_certain(why):
    lacks = asked(VCPU=99, required='CUSTOM_PHYSNET_A')
    has = asked(VCPU=99, required='CUSTOM_GOLD')
    assert [line.partition(' |')[0] for line in why('cn1', lacks)] == [
        'VCPU: 99',
        'CUSTOM_PHYSNET_A required',
    ]
    assert len(why('cn1', has)) == 1


@pytest.mark.usefixtures('rack')
def test_a_limit_has_no_say(why):
    request = Request(groups=(group(MEMORY_MB=1),), limit=1)
    assert why('cn1', request) == []
    assert why('cn2', request) == []


def test_a_node_in_maintenance_has_nothing_free(placement, why):
    gold = {'total': 1, 'reserved': 1, 'max_unit': 1}
    node = Made(name='n', uuid=uuid(1), inventories={'CUSTOM_GOLD': gold})
    build(placement.others, [node])
    assert why('n', asked(CUSTOM_GOLD=1)) == [
        (
            'CUSTOM_GOLD: 1 | n | 1 asked, 0 of 0 free (total 1, reserved 1, used '
            '0, ratio 1.0)'
        )
    ]


def test_who_shares_and_is_out_of_reach_does_not_help(placement, why):
    cloud = [
        Made(name='cn1', uuid=uuid(1), inventories={'VCPU': 8}),
        Made(
            name='nfs',
            uuid=uuid(2),
            inventories={'DISK_GB': 100},
            traits=frozenset({SHARES}),
            aggregates=frozenset({AGGREGATE}),
        ),
    ]
    build(placement.others, cloud)
    assert why('cn1', asked(VCPU=1, DISK_GB=10)) == [
        'DISK_GB: 10 | cn1 | 10 asked; cn1 has none'
    ]


# --- what can go wrong --------------------------------------------------------


@pytest.mark.usefixtures('rack')
def test_an_unknown_name_is_said_first(why):
    with pytest.raises(errors.DoesNotExist, match='no trait CUSTOM_NONE'):
        why('cn1', asked(VCPU=99, required='CUSTOM_NONE'))


@pytest.mark.usefixtures('rack')
def test_a_provider_that_goes_in_the_meantime_is_said(why, placement):
    def gone(request):
        if 'in_tree=' in request.path:
            placement.mend()
            placement.delete(f'/allocations/{uuid(1)}')
            placement.delete(f'/allocations/{uuid(2)}')
            for number in (3, 2, 1):
                placement.delete(f'/resource_providers/{uuid(number)}')

    placement.before_request(gone)
    with pytest.raises(
        errors.DoesNotExist, match=r'provider cn1 \(.*\) is gone'
    ):
        why('cn1', asked(VCPU=2))


@pytest.mark.usefixtures('rack')
def test_what_is_freed_in_the_meantime_is_not_explained(why, placement):
    def freed(request):
        if 'in_tree=' in request.path:
            placement.mend()
            placement.delete(f'/allocations/{uuid(1)}')

    placement.before_request(freed)
    with pytest.raises(
        agent_errors.UnknownState, match='became a candidate while'
    ):
        why('cn1', asked(VCPU=2))


@pytest.mark.parametrize('body', [{}, {'usages': []}, {'usages': {'A': 'b'}}])
@pytest.mark.usefixtures('rack')
def test_usages_of_another_shape_say_nothing(why, placement, body):
    placement.fault('GET */usages', (200, body))
    with pytest.raises(errors.MalformedAnswer, match='usages'):
        why('cn1', asked(VCPU=2))
