# SPDX-License-Identifier: Apache-2.0
"""Candidates as Python, on the real placement; and what can go wrong."""

import dataclasses

import pytest
from small_cloud import AGGREGATE, RACK, build_first, uuid

from compute_agent import errors as agent_errors
from report_client import errors
from report_client.api.values.provider_query import MemberOf
from report_client.candidates import candidates
from report_client.candidates.values.answer import Allocation, Offer
from report_client.candidates.values.query import Group, Request, TraitQuery

# What placement 16.0 on PostgreSQL 15 answers to ?resources=VCPU:1&required=!X
# where there are nested providers.
OF_POSTGRESQL = (
    'The server has either erred or is incapable of performing the requested '
    'operation.\n\n (psycopg2.errors.InvalidTextRepresentation) invalid input '
    'syntax for type integer: "HW_CPU_X86_AVX2" LINE 2: ...ource_provider_id '
    "AND rptt_forbidden.trait_id IN ('HW_CPU_X8... [SQL: SELECT rpt.id ..."
)
CN1, PF1, PF2, CN2, NFS = (uuid(number) for number in range(1, 6))


@pytest.fixture
def rack(placement):
    """The rack of two compute nodes and a share."""
    build_first(placement.others, RACK, placement)
    placement.clear()


@pytest.fixture
def ask(service):
    """Ask for candidates."""
    return candidates.Candidates(service).ask


def group(name='', *, required='', **resources):
    traits = TraitQuery.parse([required] if required else [])
    return Group(name=name, resources=resources, traits=traits)


@pytest.mark.usefixtures('rack')
def test_the_answer_has_the_ways_and_the_trees(ask):
    answer = ask(
        Request.of(group(VCPU=1, DISK_GB=10), group('1', SRIOV_NET_VF=2))
    )
    assert answer.allocations == (
        Allocation(
            resources={
                CN1: {'VCPU': 1},
                PF2: {'SRIOV_NET_VF': 2},
                NFS: {'DISK_GB': 10},
            },
            mappings={'': (CN1, NFS), '1': (PF2,)},
        ),
    )
    assert set(answer.summaries) == {CN1, PF1, PF2, NFS}
    child = answer.summaries[PF1]
    assert (child.parent_uuid, child.root_uuid) == (CN1, CN1)
    assert child.traits == {'CUSTOM_PHYSNET_A'}
    assert child.offers == {'SRIOV_NET_VF': Offer(capacity=4, used=4)}
    assert answer.summaries[CN1].offers['MEMORY_MB'].capacity == 3584


@pytest.mark.parametrize(
    ('request_', 'found'),
    [
        (Request.of(group(VCPU=1)), {CN1, CN2}),
        (Request.of(group(VCPU=2)), {CN2}),
        (Request.of(group(VCPU=1, required='CUSTOM_GOLD')), {CN1}),
        (
            Request.of(group(VCPU=1), Group(in_tree=PF1)),
            {CN1},
        ),
        (
            Request.of(
                group(VCPU=1),
                Group(member_of=(MemberOf(aggregates=(AGGREGATE,)),)),
            ),
            {CN1},
        ),
        (
            Request.of(
                group(VCPU=1),
                Group(
                    member_of=(
                        MemberOf(aggregates=(AGGREGATE,), forbidden=True),
                    )
                ),
            ),
            {CN2},
        ),
        (
            Request(
                groups=(group(VCPU=1),),
                root_required=TraitQuery(forbidden=('CUSTOM_GOLD',)),
            ),
            {CN2},
        ),
        (
            Request(
                groups=(
                    group('_A', VCPU=1),
                    group('_B', required='CUSTOM_PHYSNET_B'),
                ),
                group_policy='none',
                same_subtree=(('_A', '_B'),),
            ),
            {CN1},
        ),
    ],
)  # fmt: skip
@pytest.mark.usefixtures('rack')
def test_each_condition_is_understood_by_placement(ask, request_, found):
    assert set(ask(request_).classes_by_provider()) == found


@pytest.mark.usefixtures('rack')
def test_a_limit_is_of_ways(ask):
    one = Request(groups=(group(MEMORY_MB=1),), limit=1)
    assert len(ask(one).allocations) == 1
    assert len(ask(dataclasses.replace(one, limit=None)).allocations) == 2


@pytest.mark.parametrize(('policy', 'count'), [('none', 1), ('isolate', 0)])
@pytest.mark.usefixtures('rack')
def test_groups_share_a_provider_or_do_not(ask, policy, count):
    request = Request(
        groups=(group('1', SRIOV_NET_VF=1), group('2', SRIOV_NET_VF=1)),
        group_policy=policy,
    )
    assert len(ask(request).allocations) == count


def test_names_come_tree_by_tree_or_all_at_once(placement, service, operator):
    for number in range(20):
        operator.create(uuid(number), f'cn{number}')
    asked = candidates.Candidates(service)
    placement.clear()
    assert asked.names_in_trees([uuid(3), uuid(4), uuid(3)]) == {
        uuid(3): 'cn3',
        uuid(4): 'cn4',
    }
    assert len(placement.requests) == 2
    placement.clear()
    assert len(asked.names_in_trees(map(uuid, range(17)))) == 20
    assert [r.path for r in placement.requests] == ['/resource_providers']


# --- what can go wrong --------------------------------------------------------


@pytest.mark.parametrize(
    ('one', 'words'),
    [
        (
            group(VCPU=1, required='CUSTOM_GOLDEN'),
            ('placement knows no trait CUSTOM_GOLDEN; did you mean '
            'CUSTOM_GOLD?'),
        ),
        (
            group(VCPUS=1),
            'placement knows no resource class VCPUS; did you mean VCPU?',
        ),
        # Nothing fits the first amount: placement does not come to the rest.
        (
            group(VCPU=99, required='CUSTOM_GOLDEN'),
            ('placement knows no trait CUSTOM_GOLDEN; did you mean '
            'CUSTOM_GOLD?'),
        ),
        (
            group(VCPU=99, required='in:CUSTOM_X,CUSTOM_Y'),
            'placement knows no traits CUSTOM_X, CUSTOM_Y',
        ),
    ],
)  # fmt: skip
@pytest.mark.usefixtures('rack')
def test_an_unknown_name_is_never_an_empty_answer(ask, one, words):
    with pytest.raises(errors.DoesNotExist) as raised:
        ask(Request.of(one))
    assert str(raised.value) == words


@pytest.mark.usefixtures('rack')
def test_an_unknown_trait_of_the_root_is_named(ask):
    request = Request(
        groups=(group(VCPU=99),),
        root_required=TraitQuery(forbidden=('CUSTOM_NONE',)),
    )
    with pytest.raises(errors.DoesNotExist, match='no trait CUSTOM_NONE'):
        ask(request)


@pytest.mark.usefixtures('rack')
def test_names_are_looked_up_once(ask, placement):
    for _ in range(2):
        request = Request.of(group(VCPU=99, required='CUSTOM_GOLD'))
        assert ask(request).allocations == ()
    assert [str(r) for r in placement.requests] == [
        'GET /allocation_candidates?resources=VCPU:99&required=CUSTOM_GOLD',
        'GET /traits?name=in:CUSTOM_GOLD',
        'GET /resource_classes',
        'GET /allocation_candidates?resources=VCPU:99&required=CUSTOM_GOLD',
    ]


def test_a_name_that_came_back_is_said_in_placement_s_words(ask, placement):
    unknown = {'status': 400, 'detail': 'No such trait(s): HW_CPU_X86_AVX2.'}
    placement.fault('GET /allocation_c*', (400, {'errors': [unknown]}))
    with pytest.raises(errors.DoesNotExist, match=r'No such trait\(s\)'):
        ask(Request.of(group(VCPU=1, required='HW_CPU_X86_AVX2')))


def test_the_bug_of_placement_on_postgresql_is_named(ask, placement):
    fault = {'status': 500, 'detail': OF_POSTGRESQL}
    placement.fault('GET *required=*', (500, {'errors': [fault]}), times=None)
    with pytest.raises(errors.ServerFault) as raised:
        ask(Request.of(group(VCPU=1, required='!HW_CPU_X86_AVX2')))
    said = str(raised.value)
    assert 'forbidden HW_CPU_X86_AVX2' in said
    assert 'bug of placement 16 on PostgreSQL' in said
    assert 'SELECT' not in said


@pytest.mark.parametrize(
    ('one', 'detail'),
    [
        (group(VCPU=1, required='!HW_CPU_X86_AVX2'), 'database is locked'),
        (group('1', VCPU=1, required='!HW_CPU_X86_AVX2'), OF_POSTGRESQL),
        (group(VCPU=1, required='HW_CPU_X86_AVX2'), OF_POSTGRESQL),
    ],
)
def test_another_500_is_not_taken_for_it(ask, placement, one, detail):
    fault = {'status': 500, 'detail': detail}
    placement.fault('GET *', (500, {'errors': [fault]}))
    with pytest.raises(errors.ServerFault) as raised:
        ask(Request.of(one))
    assert 'bug of' not in str(raised.value)
    assert detail[:20] in str(raised.value)


@pytest.mark.parametrize(
    'body', ['<html>', {}, {'allocation_requests': [], 'other': {}}]
)
def test_garbage_is_no_empty_answer(ask, placement, body):
    placement.fault('GET /allocation_c*', (200, body))
    with pytest.raises(errors.MalformedAnswer):
        ask(Request.of(group(VCPU=1)))


def test_a_placement_that_is_away_is_no_empty_answer(ask, placement):
    placement.fault('GET *', 503)
    with pytest.raises(agent_errors.Unavailable):
        ask(Request.of(group(VCPU=1)))


@pytest.mark.usefixtures('rack')
def test_an_older_placement_answers_what_it_can(ask, newest):
    newest('1.30')
    assert set(ask(Request.of(group(VCPU=2))).summaries) == {CN2}
    with pytest.raises(errors.TooOld, match='needs 1.39 or newer'):
        ask(Request.of(group(VCPU=2, required='in:CUSTOM_GOLD')))
