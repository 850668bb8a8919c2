# SPDX-License-Identifier: Apache-2.0
"""What placement does not tell, or cuts short, is never held against anybody.

A placement may stop after so many ways to meet a request, and it may fail
inside; both on the real one, but for faults that it has in rare clouds only.
"""

import dataclasses
import re
import time

import pytest
from small_cloud import AGGREGATE, RACK, SHARES, Made, build, build_first, uuid

from compute_agent import errors as agent_errors
from report_client import errors
from report_client.candidates.values.query import Group, Request, TraitQuery
from report_client.candidates.why_not import why_not

CAPPED = re.escape('[placement] max_allocation_candidates on the server')
FIRST, SECOND, FULL, PLAIN, BIG = (f'cn{number}' for number in range(1, 6))


@pytest.fixture
def nodes(placement):
    """Five nodes that share nothing: all gold, one is full and one is not."""
    build_first(
        placement.others,
        [
            node(1, VCPU=8),
            node(2, VCPU=8),
            node(3, used={'VCPU': 8}, VCPU=8),
            node(4, traits=(), VCPU=8),
            node(5, VCPU=99),
        ],
        placement,
    )


@pytest.fixture
def shared(placement):
    """Nodes that have their disks of a share: the second one is full."""
    build_first(
        placement.others,
        [
            node(1, aggregates={AGGREGATE}, VCPU=8),
            node(
                2,
                used={'VCPU': 8},
                aggregates={AGGREGATE},
                VCPU=8,
            ),
            node(3, aggregates={AGGREGATE}, VCPU=8),
            node(4, traits={SHARES}, aggregates={AGGREGATE}, DISK_GB=100),
        ],
        placement,
    )


@pytest.fixture
def child(placement):
    """Two nodes, and a share of disks that is a child of another tree."""
    share = Made(
        name='cn4_disks',
        uuid=uuid(5),
        parent='cn4',
        inventories={'DISK_GB': 100},
        traits=frozenset({SHARES}),
        aggregates=frozenset({AGGREGATE}),
    )
    nodes = [node(n, aggregates={AGGREGATE}, VCPU=8) for n in (1, 2)]
    cloud = [*nodes, node(4, traits=()), share]
    build_first(placement.others, cloud, placement)


@pytest.fixture
def explain(service, providers, placement):
    """Return why a provider is no candidate."""

    def ask(name, request):
        one = providers.find(name)
        placement.clear()
        return why_not.WhyNot(service, time.time).explain(request, one)

    return ask


def node(
    number, *, traits=('CUSTOM_GOLD',), used=None, aggregates=(), **records
):
    return Made(
        name=f'cn{number}',
        uuid=uuid(number),
        inventories=records,
        used=used or {},
        traits=frozenset(traits),
        aggregates=frozenset(aggregates),
    )


def asked(*, required='', **resources):
    traits = TraitQuery.parse([required] if required else [])
    return Request.of(Group(resources=resources, traits=traits))


def texts(found):
    return [part.text for f in found.failures for part in f.requirements]


def fails(status=500, detail="KeyError: 'a provider'"):
    return status, {'errors': [{'status': status, 'detail': detail}]}


# --- a placement that stops early ---------------------------------------------


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize('breadth_first', [False, True])
@pytest.mark.parametrize('cap', [0, 1, 2, 3, None])
@pytest.mark.usefixtures('nodes')
def test_of_a_tree_alone_all_is_known_however_little_is_answered(
    explain, capped, cap, breadth_first
):
    gold = asked(VCPU=1, required='CUSTOM_GOLD')
    capped(cap, breadth_first=breadth_first)
    assert texts(explain(FULL, gold)) == ['VCPU: 1']
    assert texts(explain(PLAIN, gold)) == ['CUSTOM_GOLD required']
    assert texts(explain(FIRST, asked(VCPU=50, DISK_GB=1))) == [
        'DISK_GB: 1',
        'VCPU: 50',
    ]
    assert explain(BIG, asked(VCPU=50)) == why_not.Explanation()


@pytest.mark.usefixtures('nodes')
def test_one_that_is_left_out_of_the_answer_is_said_to_be(explain, capped):
    capped(1)
    left_out = []
    for name in (FIRST, SECOND, PLAIN, BIG):
        try:
            assert explain(name, asked(VCPU=1)) == why_not.Explanation()
        except agent_errors.UnknownState as exc:
            left_out.append(str(exc))
    assert len(left_out) == 3
    assert re.fullmatch(
        'cn. meets the request, but placement leaves it out: placement '
        'stops after 1 '
        f'ways; raise {CAPPED}, or set '
        'allocation_candidates_generation_strategy = breadth-first there',
        left_out[0],
    )


@pytest.mark.parametrize('version', ['1.30', '1.38'])
@pytest.mark.usefixtures('nodes')
def test_an_older_placement_is_asked_as_it_can_be(explain, newest, version):
    newest(version)
    gold = asked(VCPU=1, required='CUSTOM_GOLD')
    assert texts(explain(FULL, gold)) == ['VCPU: 1']
    assert texts(explain(PLAIN, gold)) == ['CUSTOM_GOLD required']


@pytest.mark.parametrize('cap', [1, 2])
@pytest.mark.usefixtures('shared')
def test_where_something_is_shared_a_cut_answer_tells_nothing(
    explain, capped, cap
):
    capped(cap)
    with pytest.raises(agent_errors.UnknownState, match=CAPPED) as raised:
        explain('cn2', asked(VCPU=1, DISK_GB=10))
    assert 'cn2: why it is not a candidate is not known' in str(raised.value)


@pytest.mark.usefixtures('shared')
def test_what_an_answer_tells_that_cannot_be_cut_is_said(explain, capped):
    capped(1)
    found = explain('cn2', asked(VCPU=1, DISK_GB=200))
    assert texts(found) == ['DISK_GB: 200']
    (doubt,) = found.doubts
    assert doubt.startswith(
        'placement may have stopped early when it answered'
    )


@pytest.mark.parametrize('cap', [None, 100])
@pytest.mark.usefixtures('shared')
def test_an_answer_that_is_seen_to_be_whole_is_believed(explain, capped, cap):
    capped(cap)
    for name in ('cn2', 'cn4'):
        found = explain(name, asked(VCPU=9, DISK_GB=10))
        assert (texts(found), found.doubts) == (['VCPU: 9'], ())
    found = explain('cn2', asked(VCPU=1, DISK_GB=10))
    assert (texts(found), found.doubts) == (['VCPU: 1'], ())


@pytest.mark.parametrize('version', ['1.30', '1.38'])
@pytest.mark.usefixtures('shared')
def test_an_older_placement_cannot_have_stopped_early(
    explain, newest, version
):
    newest(version)
    found = explain('cn2', asked(VCPU=1, DISK_GB=10))
    assert (texts(found), found.doubts) == (['VCPU: 1'], ())


# --- a placement that fails inside --------------------------------------------


@pytest.mark.usefixtures('nodes')
def test_a_fault_at_the_request_itself_is_an_error(explain, placement):
    placement.fault('GET /allocation_c*', fails())
    with pytest.raises(errors.ServerFault, match='KeyError'):
        explain(FULL, asked(VCPU=1))


@pytest.mark.usefixtures('nodes')
def test_if_nothing_is_known_for_a_fault_that_is_said(explain, placement):
    placement.fault('GET /allocation_c*', fails(), skip=1)
    with pytest.raises(agent_errors.UnknownState) as raised:
        explain(FULL, asked(VCPU=1))
    said = str(raised.value)
    assert said.startswith(
        'cn3: why it is not a candidate is not known: placement cannot be '
        'asked for a part of the request, because of a bug of the server: '
        'GET /allocation_candidates?'
    )
    assert "HTTP 500: KeyError: 'a provider'" in said


@pytest.mark.usefixtures('nodes')
def test_what_a_fault_leaves_unknown_is_held_against_nothing(
    explain, placement
):
    request = asked(VCPU=1, required='CUSTOM_GOLD,!CUSTOM_SILVER')
    placement.put('/traits/CUSTOM_SILVER')
    placement.fault('GET *required=!CUSTOM_SILVER&*', fails())
    found = explain(PLAIN, request)
    assert texts(found) == ['CUSTOM_GOLD required']
    (doubt,) = found.doubts
    assert 'KeyError' in doubt


@pytest.mark.usefixtures('shared')
def test_a_count_that_fails_proves_nothing(explain, placement, capped):
    capped(1)
    placement.fault('GET *same_subtree=_MORE*', fails(), times=None)
    with pytest.raises(agent_errors.UnknownState, match=CAPPED):
        explain('cn2', asked(VCPU=1, DISK_GB=10))


def test_the_rack_s_amounts_are_not_known_where_one_answer_is_the_limit(
    placement, explain, capped
):
    build(placement.others, RACK)
    capped(1)
    with pytest.raises(agent_errors.UnknownState, match=CAPPED):
        explain('cn1', asked(VCPU=2, DISK_GB=10))


BUG = re.escape(
    'placement failed inside (HTTP 500): a bug of placement 16, which fails on '
    'a provider that shares (MISC_SHARES_VIA_AGGREGATE) and has a parent; make '
    'sharing providers roots, or repair placement'
)


@pytest.mark.usefixtures('child')
def test_a_fault_that_placement_has_by_itself_is_named(explain):
    with pytest.raises(errors.ServerFault, match=f'^{BUG}$'):
        explain('cn1', asked(VCPU=1, DISK_GB=10))


@pytest.mark.usefixtures('child')
def test_it_is_a_doubt_where_only_a_part_cannot_be_asked(explain):
    request = dataclasses.replace(
        asked(VCPU=99, DISK_GB=10),
        root_required=TraitQuery(required=('CUSTOM_GOLD',)),
    )
    without_root = asked(VCPU=1, DISK_GB=200)
    assert explain('cn1', without_root).doubts == ()
    found = explain('cn1', request)
    assert texts(found) == ['VCPU: 99']
    (doubt,) = found.doubts
    assert re.search(f'because of a bug of the server: {BUG}$', doubt)
