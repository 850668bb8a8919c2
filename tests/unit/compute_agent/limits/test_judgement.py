# SPDX-License-Identifier: Apache-2.0
"""The removals of a cycle: what goes, and what a person must approve."""

import pytest

from compute_agent.limits import approval, blast_radius, judgement
from compute_agent.tree import assertion

LIMITS = blast_radius.Limits()
Kind = approval.Kind
TRAIT = assertion.Kind.TRAIT


def case(uuid, *, deleted=0, names=0, totals=None, batch=None):
    return blast_radius.Case(
        node_uuid=uuid,
        removals=blast_radius.Removals(
            deleted=frozenset(f'{uuid}-{n}' for n in range(deleted)),
            names=frozenset(
                (uuid, TRAIT, f'CUSTOM_{n}') for n in range(names)
            ),
            totals=totals or {},
        ),
        batch=batch,
    )


def cases(count, **what):
    return [case(f'node-{number}', **what) for number in range(count)]


def falls(count, before=64, after=1):
    return [
        case(f'node-{n}', totals={(f'node-{n}', 'VCPU'): (before, after)})
        for n in range(count)
    ]


def batch(count, of, first=0):
    return blast_radius.Batch(
        nodes=frozenset(f'gone-{first + n}' for n in range(count)),
        agent_nodes=of,
    )


def departed(together, deleted=1):
    return [
        case(uuid, deleted=deleted, batch=together)
        for uuid in sorted(together.nodes)
    ]


def judge(every, nodes=100, limits=LIMITS, approved=(), masses=()):
    return judgement.judge(
        every,
        nodes,
        limits,
        lambda asked: set(asked) & set(approved),
        dict(masses),
    )


def shown(held, *nodes):
    """Return the removals that a person is shown: all, or of some nodes."""
    return frozenset().union(
        *(each for uuid, each in held.subjects.items() if uuid in nodes)
        if nodes
        else held.subjects.values()
    )


def kinds(found):
    return [one.kind for one in found.held]


KINDS = {
    Kind.NAMES: lambda count: cases(count, names=1),
    Kind.DELETIONS: lambda count: cases(count, deleted=1),
    Kind.CAPACITY: falls,
}


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize(
    ('count', 'nodes', 'held'),
    [
        (1, 1, False),
        (2, 2, False),
        (3, 3, True),
        (3, 14, True),
        (3, 15, False),
        (20, 100, False),
        (21, 100, True),
    ],
)
@pytest.mark.catches(
    'any number of nodes may lose something at once', case='3-14-True-names'
)
def test_the_limit_is_met_exactly(kind, count, nodes, held):
    found = judge(KINDS[kind](count), nodes)
    assert kinds(found) == [kind] * held
    for one in found.held:
        assert '[compute_agent] max_removed_percent' in one.why
        assert not one.is_whole


@pytest.mark.parametrize('kind', KINDS)
def test_a_limit_of_zero_leaves_each_removal_to_a_person(kind):
    found = judge(KINDS[kind](1), limits=blast_radius.Limits(percent=0))
    assert kinds(found) == [kind]
    assert 'max_removed_percent = 0' in found.held[0].why


def test_a_limit_of_a_hundred_holds_nothing():
    every = [*cases(9, names=9, deleted=9), *falls(9)]
    assert not judge(every, 9, blast_radius.Limits(percent=100)).held


def test_however_much_one_node_loses_it_goes():
    node = case('a', names=900, deleted=90, totals={('a', 'VCPU'): (64, 0)})
    assert not judge([node], 1).held


def test_each_kind_is_judged_by_itself():
    found = judge([*cases(4, names=1), case('z', deleted=5)], 10)
    assert kinds(found) == [Kind.NAMES]
    assert 'z' not in found.held[0].subjects


def test_a_small_fall_does_not_take_part():
    every = [*falls(2), *falls(9, before=64, after=62)[2:]]
    assert not judge(every, 10).held


def test_what_several_nodes_share_counts_once():
    change = {('pool', 'DISK_GB'): (1000, 1)}
    every = [case(str(n), totals=change) for n in range(10)]
    assert not judge(every, 10).held
    shared = blast_radius.Removals(names=frozenset({('pool', TRAIT, 'A')}))
    every = [
        blast_radius.Case(node_uuid=str(n), removals=shared) for n in range(10)
    ]
    assert not judge(every, 10).held


# --- a sudden mass of departures ----------------------------------------------


@pytest.mark.parametrize(
    ('count', 'of', 'held'),
    [(3, 14, True), (3, 15, False), (2, 2, False), (150, 600, True)],
)
def test_the_limit_of_departures_is_met_exactly(count, of, held):
    found = judge(departed(batch(count, of)))
    assert kinds(found) == [Kind.DEPARTURES] * held


def test_a_mass_does_not_hold_back_other_departures_or_names():
    mass = departed(batch(30, 60))
    one = departed(batch(1, 60, first=90))
    found = judge([*mass, *one, case('a', names=1)])
    (held,) = found.held
    assert set(held.subjects) == {c.node_uuid for c in mass}


def test_nodes_of_which_the_driver_knows_nothing_yet_count_in_a_mass():
    found = judge(departed(batch(30, 60))[:5])
    assert kinds(found) == [Kind.DEPARTURES]


def test_two_masses_are_two_sets():
    found = judge([*departed(batch(30, 90)), *departed(batch(30, 60, 50))])
    assert kinds(found) == [Kind.DEPARTURES] * 2
    first, second = found.held
    assert not set(shown(first)) & set(shown(second))


def test_the_whole_list_gone_needs_a_person_however_short():
    (held,) = judge(departed(batch(2, 2)), 0).held
    assert held.kind is Kind.DEPARTURES
    assert held.is_whole
    assert 'is that the right service?' in held.why
    assert not judge(departed(batch(1, 1)), 0).held


@pytest.mark.parametrize('of', [2, 600])
def test_the_whole_list_gone_is_so_if_only_one_node_is_judged(of):
    """The driver does not know of the other ones yet, for example."""
    (held,) = judge(departed(batch(of, of))[:1], 0).held
    assert held.is_whole


def test_departures_that_a_person_approved_are_no_mass_any_more():
    assert not judge(departed(batch(60, 0)), 0).held


def test_a_limit_of_zero_holds_leftovers_of_an_approved_mass_too():
    found = judge(
        departed(batch(60, 0)), limits=blast_radius.Limits(percent=0)
    )
    assert kinds(found) == [Kind.DEPARTURES]


# --- approvals ----------------------------------------------------------------


def test_an_approved_set_goes_whole():
    mass = departed(batch(30, 60))
    (held,) = judge(mass).held
    found = judge(mass, approved=shown(held))
    assert not found.held
    assert found.departures == found.approved.keys() == set(held.subjects)


def test_a_part_of_an_approved_set_is_approved():
    mass = departed(batch(30, 60))
    (held,) = judge(mass).held
    found = judge(mass[:-1], approved=shown(held))
    assert not found.held
    assert len(found.departures) == 29


def test_the_rest_of_a_mass_stays_held():
    mass = departed(batch(30, 60))
    (held,) = judge(mass).held
    few = shown(held, *(c.node_uuid for c in mass[2:]))
    found = judge(mass, approved=few)
    assert found.departures == {c.node_uuid for c in mass[2:]}
    (rest,) = found.held
    assert set(rest.subjects) == {c.node_uuid for c in mass[:2]}
    # The next cycle, in which these two are left.
    two = departed(batch(2, 60))
    assert not judge(two).held
    again = judge(two, masses=found.masses())
    assert [set(one.subjects) for one in again.held] == [
        {'gone-0'},
        {'gone-1'},
    ]
    assert again.masses() == found.masses()


@pytest.mark.parametrize('kind', KINDS)
def test_a_mass_is_remembered_for_its_nodes_and_kind(kind):
    one, other = KINDS[kind](2)
    mass = blast_radius.Mass(nodes=5, of=10)
    known = {(kind, one.node_uuid): mass}
    found = judge([one, other], 10, masses=known)
    assert found.masses() == known
    half = blast_radius.Limits(percent=50)
    assert not judge([one, other], 10, half, masses=known).held
    known = {(Kind.DEPARTURES, one.node_uuid): mass}
    assert not judge([one, other], 10, masses=known).held


def test_names_that_were_not_shown_hold_their_node_alone():
    (held,) = judge(cases(4, names=1), 10).held
    found = judge(cases(4, names=2), 10, approved=shown(held))
    assert shown(found.held[0]).isdisjoint(shown(held))
    assert set(found.approved) == {f'node-{n}' for n in range(4)}
    found = judge(
        [*cases(4, names=1), case('z', names=1)], 10, approved=shown(held)
    )
    (rest,) = found.held  # of the same mass
    assert set(rest.subjects) == {'z'}


def test_a_whole_list_that_is_gone_is_approved_node_by_node():
    mass = departed(batch(3, 3))
    (held,) = judge(mass, 0).held
    some = shown(held, mass[0].node_uuid, mass[1].node_uuid)
    found = judge(mass, 0, approved=some)
    assert [set(one.subjects) for one in found.held] == [{mass[2].node_uuid}]
    assert found.departures == {c.node_uuid for c in mass[:2]}


def test_a_fall_to_another_total_is_not_approved():
    (held,) = judge(falls(3, after=2), 3).held
    assert not judge(falls(3, after=2), 3, approved=shown(held)).held
    assert judge(falls(3, after=1), 3, approved=shown(held)).held
