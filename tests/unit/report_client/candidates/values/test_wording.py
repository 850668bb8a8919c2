# SPDX-License-Identifier: Apache-2.0
"""Why a tree does not meet a requirement is said with its facts."""

import pytest

from compute_agent.tree import inventory, names, provider
from report_client.candidates.values.answer import Allocation, Answer, Summary
from report_client.candidates.values.neighbourhood import (
    NearProvider,
    Neighbourhood,
)
from report_client.candidates.values.requirements import Kind, Requirement
from report_client.candidates.values.wording import Wording
from report_client.candidates.why_not import search

SHARES = names.MISC_SHARES_VIA_AGGREGATE


def provider_with(
    name, *traits, parent=None, used=None, aggregates=(), **records
):
    return NearProvider(
        provider=provider.Provider(
            uuid=name,
            name=name,
            parent_uuid=parent,
            inventories={
                rc: inventory.Inventory.from_record(
                    {'total': given} if isinstance(given, int) else given
                )
                for rc, given in records.items()
            },
            traits=frozenset(traits),
            aggregates=frozenset(aggregates),
        ),
        used=used or {},
    )


def near(*tree, sharing=(), reached=()):
    return Neighbourhood(
        tree=tree, sharing=sharing, reached=frozenset(reached)
    )


def part(kind, *names_, amount=0, group=''):
    return Requirement(kind=kind, names=names_, amount=amount, group=group)


def amount(rc, n, group=''):
    return part(Kind.RESOURCE, rc, amount=n, group=group)


def said(neighbourhood, *parts, amounts=None):
    words = Wording(near=neighbourhood, amounts=amounts or {'': {'VCPU': 2}})
    nearest, text = words.describe(parts)
    return f'{nearest.name}: {text}'


NODE = provider_with(
    'cn1',
    'CUSTOM_A',
    used={'VCPU': 7},
    aggregates=['agg1', 'agg2'],
    VCPU=8,
    MEMORY_MB={
        'total': 1000,
        'reserved': 100,
        'min_unit': 64,
        'max_unit': 512,
        'step_size': 32,
        'allocation_ratio': 1.5,
    },
)
NUMA = provider_with('numa0', 'CUSTOM_B', parent='cn1', VCPU=1)
PF = provider_with('pf1', 'CUSTOM_C', parent='cn1', VGPU=4)
DISK = provider_with(
    'nfs', SHARES, 'CUSTOM_D', aggregates=['agg1'], DISK_GB=100
)


@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        (
            amount('VCPU', 2),
            (
                'cn1: 2 asked, 1 of 8 free (total 8, reserved 0, used 7, ratio '
                '1.0)'
            ),
        ),
        (
            amount('MEMORY_MB', 33),
            (
                'cn1: 33 asked, 1350 of 1350 free (total 1000, reserved 100, '
                'used 0, ratio 1.5), at least 64 at a time (min_unit), multiples '
                'of 32 only (step_size)'
            ),
        ),
        (
            amount('MEMORY_MB', 1024),
            (
                'cn1: 1024 asked, 1350 of 1350 free (total 1000, reserved 100, '
                'used 0, ratio 1.5), at most 512 at a time (max_unit)'
            ),
        ),
        (amount('VGPU', 1), 'cn1: 1 asked; cn1 has none'),
        (part(Kind.REQUIRED, 'CUSTOM_X'), 'cn1: cn1 does not have this trait'),
        (
            part(Kind.ANY_OF, 'CUSTOM_X', 'CUSTOM_Y'),
            'cn1: cn1 has none of these traits',
        ),
        (part(Kind.FORBIDDEN, 'CUSTOM_A'), 'cn1: it has this trait'),
        (part(Kind.MEMBER_OF, 'agg3'), 'cn1: it is in agg1, agg2'),
        (part(Kind.NOT_MEMBER_OF, 'agg2'), 'cn1: it is in agg1, agg2'),
        (
            part(Kind.IN_TREE, 'cn2'),
            'cn1: it is in another tree, that of cn1',
        ),
        (
            part(Kind.ROOT_REQUIRED, 'CUSTOM_X'),
            'cn1: the root does not have this trait',
        ),
        (
            part(Kind.ROOT_FORBIDDEN, 'CUSTOM_A'),
            'cn1: the root has this trait',
        ),
        (
            part(Kind.ISOLATE, '1', '2'),
            'cn1: there is no separate provider for each group',
        ),
        (
            part(Kind.SAME_SUBTREE, '1', '2'),
            (
                'cn1: no provider that meets one of these groups is above those '
                'that meet the others'
            ),
        ),
    ],
)
def test_of_a_lone_provider_its_own_facts_are_said(asked, words):
    assert said(near(NODE), asked) == words


@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        (
            amount('SRIOV_NET_VF', 1),
            'cn1: 1 asked; no provider in its tree has any',
        ),
        (
            part(Kind.REQUIRED, 'CUSTOM_X'),
            'cn1: no provider in its tree has this trait',
        ),
        (
            part(Kind.ANY_OF, 'CUSTOM_X', 'CUSTOM_Y'),
            'cn1: no provider in its tree has any of these traits',
        ),
        (
            part(Kind.REQUIRED, 'CUSTOM_B'),
            (
                'numa0: it has CUSTOM_B, but VCPU: 2 asked, 1 of 1 free (total '
                '1, reserved 0, used 0, ratio 1.0)'
            ),
        ),
        (
            part(Kind.ANY_OF, 'CUSTOM_C', 'CUSTOM_X'),
            'pf1: it has CUSTOM_C, but no VCPU',
        ),
        (part(Kind.FORBIDDEN, 'CUSTOM_C'), 'pf1: it has this trait'),
    ],
)
def test_of_a_tree_the_provider_that_comes_nearest_is_named(asked, words):
    assert said(near(NODE, NUMA, PF), asked) == words


def test_the_amount_is_nearest_where_most_of_it_is_free():
    full = provider_with('numa0', parent='cn1', used={'VCPU': 8}, VCPU=8)
    half = provider_with('numa1', parent='cn1', used={'VCPU': 4}, VCPU=8)
    coarse = provider_with(
        'numa2', parent='cn1', VCPU={'total': 64, 'step_size': 4}
    )
    words = said(
        near(provider_with('cn1'), full, half, coarse), amount('VCPU', 5)
    )
    assert words.startswith('numa1: 5 asked, 4 of 8 free')


def test_a_trait_may_be_there_where_something_else_is_missing():
    words = said(
        near(NODE),
        part(Kind.REQUIRED, 'CUSTOM_A'),
        amounts={'': {'VCPU': 1, 'MEMORY_MB': 64}},
    )
    assert words == (
        'cn1: it has CUSTOM_A, but it does not meet the rest of its group'
    )


def test_a_trait_may_be_there_where_the_amount_is_out_of_step():
    words = said(
        near(NODE),
        part(Kind.REQUIRED, 'CUSTOM_A'),
        amounts={'': {'MEMORY_MB': 32}},
    )
    assert words.startswith('cn1: it has CUSTOM_A, but MEMORY_MB: 32 asked, ')
    assert words.endswith(', at least 64 at a time (min_unit)')


def test_who_is_in_no_aggregate_is_said_to_be_in_none():
    words = said(near(provider_with('cn1')), part(Kind.MEMBER_OF, 'agg1'))
    assert words == 'cn1: it is in no aggregate'


def test_who_shares_is_looked_at_too():
    neighbourhood = near(NODE, sharing=[DISK])
    assert said(neighbourhood, amount('VGPU', 1)) == (
        'cn1: 1 asked; cn1 has none, nor has any provider that shares with it'
    )
    assert said(neighbourhood, amount('DISK_GB', 200)) == (
        'nfs: 200 asked, 100 of 100 free (total 100, reserved 0, used 0, '
        'ratio 1.0)'
    )
    assert said(neighbourhood, amount('DISK_GB', 10)) == (
        'nfs: 10 asked, 100 of 100 free (total 100, reserved 0, used 0, '
        'ratio 1.0), it could provide that, but cn1 would provide nothing'
    )
    assert said(neighbourhood, part(Kind.REQUIRED, 'CUSTOM_D')) == (
        'nfs: it has CUSTOM_D, but no VCPU'
    )


def test_a_share_gives_what_it_has_and_no_more():
    assert said(near(DISK), amount('VCPU', 2)) == (
        'nfs: 2 asked; nfs has none, so a tree that it shares with must '
        'provide it'
    )


def test_more_used_than_there_is_leaves_nothing_free():
    over = provider_with('cn1', used={'VCPU': 9}, VCPU=8)
    assert said(near(over), amount('VCPU', 1)).startswith(
        'cn1: 1 asked, 0 of 8 free'
    )


def test_of_several_the_fact_about_each_is_said_once():
    words = said(
        near(NODE, NUMA),
        amount('VCPU', 1, '1'),
        amount('VCPU', 1, '2'),
        part(Kind.REQUIRED, 'CUSTOM_B'),
        part(Kind.ANY_OF, 'CUSTOM_X', 'CUSTOM_Y'),
        part(Kind.FORBIDDEN, 'CUSTOM_A'),
    )
    assert words == (
        'cn1: each can be met, but not together: VCPU: 1 asked, 1 of 8 free '
        '(total 8, reserved 0, used 7, ratio 1.0) on cn1; numa0 has '
        'CUSTOM_B; no provider has CUSTOM_X or CUSTOM_Y; CUSTOM_A forbidden: cn1: '
        'it has this trait'
    )


@pytest.mark.parametrize('kind', Kind)
def test_every_kind_of_requirement_has_words(kind):
    one = part(kind, 'VCPU', amount=1)
    assert said(near(NODE, NUMA, sharing=[DISK]), one)
    assert said(near(NODE), one, one)


# --- what is certain ---------------------------------------------------------

LACKING = provider_with('cn1', VCPU=8)
HAVING = provider_with('cn1', 'CUSTOM_A', aggregates=['agg1'], VCPU=8)
CHILD = provider_with('numa0', parent='cn1', VCPU=8)
ASIDE = provider_with(
    'pf1', 'CUSTOM_A', aggregates=['agg1'], parent='cn1', VGPU=1
)
STORE = provider_with('nfs', SHARES, 'CUSTOM_A', aggregates=['agg1'], VCPU=1)


@pytest.mark.parametrize(
    ('kind', 'neighbourhood', 'certain'),
    [
        (Kind.REQUIRED, near(LACKING), True),
        (Kind.REQUIRED, near(LACKING, ASIDE), True),
        (Kind.REQUIRED, near(LACKING, sharing=[STORE]), False),
        (Kind.REQUIRED, near(HAVING, CHILD), False),
        (Kind.REQUIRED, near(provider_with('cn1', 'CUSTOM_A')), False),
        (Kind.REQUIRED, near(provider_with('cn1')), True),
        (Kind.ANY_OF, near(LACKING), True),
        (Kind.ANY_OF, near(HAVING), False),
        (Kind.FORBIDDEN, near(HAVING), True),
        (Kind.FORBIDDEN, near(HAVING, CHILD), False),
        (Kind.FORBIDDEN, near(LACKING, ASIDE), False),
        (Kind.FORBIDDEN, near(provider_with('cn1')), False),
        (Kind.MEMBER_OF, near(LACKING), True),
        (Kind.MEMBER_OF, near(LACKING, ASIDE), True),
        (Kind.MEMBER_OF, near(HAVING, CHILD), False),
        (Kind.NOT_MEMBER_OF, near(HAVING), True),
        (Kind.NOT_MEMBER_OF, near(HAVING, CHILD), False),
        (Kind.IN_TREE, near(LACKING), True),
        (Kind.IN_TREE, near(provider_with('CUSTOM_A')), False),
        (Kind.IN_TREE, near(STORE), False),
        (Kind.FORBIDDEN, near(STORE), False),
        (Kind.REQUIRED, near(DISK), False),
        (Kind.ROOT_REQUIRED, near(LACKING), True),
        (Kind.ROOT_REQUIRED, near(HAVING), False),
        (Kind.ROOT_FORBIDDEN, near(HAVING), True),
        (Kind.ROOT_FORBIDDEN, near(LACKING), False),
        (Kind.ROOT_FORBIDDEN, near(STORE), False),
        (Kind.ISOLATE, near(LACKING), False),
        (Kind.SAME_SUBTREE, near(LACKING), False),
    ],
)
def test_a_condition_fails_for_certain_only_if_no_amount_could_help(
    kind, neighbourhood, certain
):
    names_ = {
        Kind.MEMBER_OF: 'agg1',
        Kind.NOT_MEMBER_OF: 'agg1',
    }
    one = part(kind, names_.get(kind, 'CUSTOM_A'))
    assert search.certainly_fails(one, neighbourhood, {'VCPU': 99}) is certain


@pytest.mark.parametrize('kind', [Kind.REQUIRED, Kind.FORBIDDEN])
def test_of_a_group_without_amounts_nothing_is_certain(kind):
    one = part(kind, 'CUSTOM_A')
    assert not search.certainly_fails(one, near(LACKING), {})


# --- who is a candidate, and who could be ------------------------------------


def answer(*ways, **roots):
    """Return an answer with these ways; each names who gives something."""
    return Answer(
        allocations=tuple(
            Allocation(resources={u: {'VCPU': 1} for u in way}, mappings={})
            for way in ways
        ),
        summaries={
            uuid: Summary(
                uuid=uuid,
                parent_uuid=None,
                root_uuid=root,
                traits=frozenset(),
                offers={},
            )
            for uuid, root in roots.items()
        },
    )


@pytest.mark.parametrize(
    ('neighbourhood', 'found', 'is_candidate', 'is_compatible'),
    [
        (near(LACKING), answer(), False, False),
        (near(LACKING), answer(['cn1'], cn1='cn1'), True, True),
        (near(LACKING), answer(['cn2'], cn2='cn2'), False, False),
        (
            near(LACKING, sharing=[DISK]),
            answer(['nfs'], nfs='nfs'),
            False,
            True,
        ),
        (
            near(LACKING, sharing=[DISK]),
            answer(['nfs', 'cn2'], nfs='nfs', cn2='cn2'),
            False,
            False,
        ),
        (
            near(DISK, reached=['cn1', 'nfs']),
            answer(['cn1', 'numa0'], cn1='cn1', numa0='cn1'),
            False,
            True,
        ),
        (
            near(DISK, reached=['cn1', 'nfs']),
            answer(['cn2'], ['cn1', 'cn2'], cn1='cn1', cn2='cn2'),
            False,
            False,
        ),
    ],
)
def test_a_tree_is_a_candidate_or_could_be(
    neighbourhood, found, is_candidate, is_compatible
):
    assert neighbourhood.is_candidate(found) is is_candidate
    assert neighbourhood.is_compatible(found) is is_compatible
