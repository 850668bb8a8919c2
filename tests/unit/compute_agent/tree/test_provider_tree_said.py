# SPDX-License-Identifier: Apache-2.0
"""Two trees of one observation of which the same was said are the same.

What a cycle would do about them is asked of ``ownership.resolve``: a plan of
nothing is remembered by what was said, so nothing may be missing in it.
"""

import hypothesis
import pytest
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent.ownership import resolve
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import provider, provider_tree

ROOT, A, B, SHARED = 'root', 'child-a', 'child-b', 'shared'
UUIDS = {
    ROOT: '11111111-1111-4111-8111-111111111111',
    A: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
    B: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
    SHARED: '33333333-3333-4333-8333-333333333333',
}
ABOVE = '99999999-9999-4999-8999-999999999999'
SEEN = provider.snapshot(
    [
        provider.Provider(uuid=UUIDS[ROOT], name=ROOT, generation=1),
        provider.Provider(
            uuid=UUIDS[A], name=A, parent_uuid=UUIDS[ROOT], generation=1
        ),
        provider.Provider(
            uuid=UUIDS[B], name=B, parent_uuid=UUIDS[ROOT], generation=1
        ),
        provider.Provider(
            uuid=UUIDS[SHARED], name=SHARED, parent_uuid=ABOVE, generation=1
        ),
    ]
)
RECORD = Record(created=frozenset(UUIDS.values()))
POLICY = Policy()

WHO = st.sampled_from((A, B, SHARED))
EDITS = st.one_of(
    st.tuples(st.just('inventory'), WHO, st.sampled_from((4, 8))),
    st.tuples(st.just('traits'), WHO, st.sampled_from(('X', 'Y'))),
    st.tuples(st.just('more'), WHO, st.sampled_from(('X', 'Y'))),
    st.tuples(st.just('again'), WHO, st.just(None)),
)


def described(edits):
    """Return a tree that these edits were made to."""
    tree = provider_tree.ProviderTree.from_snapshot(
        SEEN, detached={UUIDS[SHARED]}
    )
    for what, who, value in edits:
        match what:
            case 'inventory':
                tree.update_inventory(who, {'VCPU': {'total': value}})
            case 'traits':
                tree.update_traits(who, [f'CUSTOM_{value}'])
            case 'more':
                tree.add_traits(who, f'CUSTOM_{value}')
            case 'again':
                tree.remove(who)
                if who == SHARED:
                    tree.new_root(who, UUIDS[who])
                else:
                    tree.new_child(who, ROOT, UUIDS[who])
    return tree


def wanted(tree):
    try:
        return resolve.resolve(tree, UUIDS[ROOT], RECORD, POLICY).after
    except errors.AgentError as exc:
        return str(exc)


def alike(one, two):
    one, two = described(one), described(two)
    return one.description() != two.description() or wanted(one) == wanted(two)


@st.composite
def two_ways(draw):
    """Edits, and the same in another order, some for others."""
    edits = draw(st.lists(EDITS, max_size=5))
    order = draw(st.permutations(edits))
    turned = {A: B, B: A, SHARED: SHARED} if draw(st.booleans()) else {}
    return edits, [(what, turned.get(w, w), v) for what, w, v in order]


@hypothesis.given(two_ways())
def test_what_is_wanted_of_two_trees_is_told_by_what_was_said(ways):
    assert alike(*ways)


@pytest.mark.parametrize(
    ('one', 'two'),
    [
        (
            [('inventory', A, 8), ('inventory', B, 4)],
            [('inventory', B, 8), ('inventory', A, 4)],
        ),
        ([], [('again', SHARED, None)]),
        ([('traits', A, 'X')], [('more', A, 'X')]),
    ],
    ids=['amounts change places', 'a lone root given anew', 'exclusive'],
)
def test_what_differs_is_said_otherwise(one, two):
    assert described(one).description() != described(two).description()
