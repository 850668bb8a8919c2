# SPDX-License-Identifier: Apache-2.0
"""The removals of a cycle: what goes, what waits, what a person must approve."""

import pytest

from compute_agent.limits import approval, blast_radius, judgement
from compute_agent.tree import assertion

LIMITS = blast_radius.Limits()
Kind = approval.Kind


def case(uuid, *, deleted=0, names=0, totals=None, since=0.0, batch=None):
    return blast_radius.Case(
        node_uuid=uuid,
        removals=blast_radius.Removals(
            deleted=frozenset(f'{uuid}-{n}' for n in range(deleted)),
            names=frozenset(
                (uuid, assertion.Kind.TRAIT, f'CUSTOM_{n}')
                for n in range(names)
            ),
            totals=totals or {},
        ),
        since=since,
        batch=batch,
    )


def batch(count, of, left_at=1.0, unasked=0):
    return blast_radius.Batch(
        left_at=left_at,
        nodes=frozenset(f'gone-{left_at}-{n}' for n in range(count)),
        unasked=unasked,
        agent_nodes=of,
    )


def departed(together, deleted=1):
    return [
        case(uuid, deleted=deleted, since=together.left_at, batch=together)
        for uuid in sorted(together.nodes)
    ]


def seen(providers=100, names=1000, **more):
    count = {str(n): 0 for n in range(providers)}
    return blast_radius.Seen(names={**count, '0': names}, **more)


def judge(cases, view=None, limits=LIMITS, approved=()):
    return judgement.judge(
        cases, view or seen(), limits, lambda asked: set(asked) & set(approved)
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


@pytest.mark.parametrize(
    ('names', 'of', 'held'),
    [
        (49, 60, False),
        (50, 250, False),
        (50, 249, True),
        (1000, 5000, False),
        (1001, 5000, True),
    ],
)
def test_the_limit_of_names_is_met_exactly(names, of, held):
    found = judge([case('a', names=names)], seen(names=of))
    assert kinds(found) == [Kind.NAMES] * held
    for one in found.held:
        assert '[compute_agent] max_removed_percent' in one.why
        assert '"compute-agent sync --yes"' in one.why


@pytest.mark.parametrize(
    ('deleted', 'of', 'held', 'waiting'),
    [
        (10, 10, False, False),
        (11, 54, True, False),
        (11, 55, False, False),  # larger than the budget: it goes alone
    ],
)
@pytest.mark.catches(
    'any number of providers may be deleted', case='11-54-True-False'
)
def test_the_limit_of_deletions_is_met_exactly(deleted, of, held, waiting):
    found = judge([case('a', deleted=deleted)], seen(providers=of))
    assert kinds(found) == [Kind.DELETIONS] * held
    assert bool(found.waiting) is waiting


def test_a_limit_of_no_deletions_leaves_each_to_a_person():
    limits = blast_radius.Limits(deletions=0)
    found = judge([case('a', deleted=1)], limits=limits)
    assert kinds(found) == [Kind.DELETIONS]
    found = judge(departed(batch(1, 100)), limits=limits)
    assert kinds(found) == [Kind.DEPARTURES]


def test_the_nodes_that_take_part_are_held_and_no_other():
    found = judge(
        [
            case('a', names=60),
            case('b', names=1, deleted=1),
            case('c', deleted=1),
            case('d', totals={('d', 'VCPU'): (64, 60)}),
        ],
        seen(names=100, totals={('e', 'VCPU'): 1000}),
    )
    assert [set(one.subjects) for one in found.held] == [{'a', 'b'}]
    assert found.waiting == frozenset()


def test_a_node_is_held_for_each_kind_it_takes_part_in():
    totals = {('a', 'VCPU'): (64, 1)}
    found = judge([case('a', names=60, totals=totals)], seen(names=100))
    assert kinds(found) == [Kind.NAMES, Kind.CAPACITY]


# --- the budget ---------------------------------------------------------------


def test_the_oldest_departures_go_first_and_the_rest_waits():
    old = departed(batch(6, 1000, left_at=1.0))
    new = departed(batch(6, 1000, left_at=2.0))
    found = judge([*new, *old])
    assert found.held == []
    assert found.waiting == {c.node_uuid for c in new[4:]}


def test_the_providers_of_a_node_go_together():
    found = judge(departed(batch(4, 1000), deleted=4))
    assert len(found.waiting) == 2


def test_a_node_larger_than_the_budget_goes_alone_when_it_is_the_oldest():
    large = departed(batch(1, 1000, left_at=1.0), deleted=30)
    small = departed(batch(1, 1000, left_at=2.0))
    found = judge([*small, *large], limits=blast_radius.Limits(percent=100))
    assert found.waiting == {small[0].node_uuid}


def test_a_backlog_is_never_held():
    batches = [batch(2, 60, left_at=float(n)) for n in range(30)]
    found = judge([case for one in batches for case in departed(one)])
    assert found.held == []
    assert len(found.waiting) == 50


# --- a sudden mass of departures ----------------------------------------------


@pytest.mark.parametrize(
    ('count', 'of', 'held'),
    [(11, 54, True), (11, 55, False), (10, 10, False), (60, 60, True)],
)
def test_the_limit_of_departures_is_met_exactly(count, of, held):
    found = judge(departed(batch(count, of)))
    assert kinds(found) == [Kind.DEPARTURES] * held


def test_a_mass_does_not_hold_back_other_departures_or_names():
    mass = departed(batch(30, 60, left_at=1.0))
    one = departed(batch(1, 60, left_at=2.0))
    found = judge([*mass, *one, case('a', names=1)])
    assert [set(h.subjects) for h in found.held] == [
        {c.node_uuid for c in mass}
    ]
    assert found.waiting == frozenset()


def test_nodes_of_which_the_driver_knows_nothing_yet_count_in_a_mass():
    together = batch(30, 60, unasked=25)
    found = judge(departed(together)[:5])
    assert kinds(found) == [Kind.DEPARTURES]


def test_two_masses_are_two_sets():
    found = judge(
        [*departed(batch(30, 90, 1.0)), *departed(batch(30, 60, 2.0))]
    )
    assert kinds(found) == [Kind.DEPARTURES] * 2
    first, second = found.held
    assert not set(shown(first)) & set(shown(second))


def test_the_whole_list_gone_needs_a_person_however_short():
    found = judge(departed(batch(2, 2)), seen(is_empty=True))
    assert kinds(found) == [Kind.DEPARTURES]
    assert 'is that the right service?' in found.held[0].why
    assert judge(departed(batch(1, 1)), seen(is_empty=True)).held == []


def test_departures_that_a_person_approved_are_no_mass_any_more():
    found = judge(departed(batch(60, 0)), seen(is_empty=True))
    assert found.held == []
    assert len(found.waiting) == 50


# --- approvals ----------------------------------------------------------------


def test_an_approved_set_goes_whole_and_beyond_the_budget():
    mass = departed(batch(30, 60))
    (held,) = judge(mass).held
    found = judge(mass, approved=shown(held))
    assert (found.held, found.waiting) == ([], frozenset())
    assert found.departures == found.approved.keys() == set(held.subjects)


def test_a_part_of_an_approved_set_is_approved():
    """A node's refused writes wait, so it is not among the others."""
    mass = departed(batch(30, 60))
    (held,) = judge(mass).held
    found = judge(mass[:-1], approved=shown(held))
    assert (found.held, found.waiting) == ([], frozenset())
    assert len(found.departures) == 29


def test_the_rest_of_a_mass_is_judged_without_what_is_approved():
    mass = departed(batch(30, 60))
    (held,) = judge(mass).held
    few = shown(held, *(c.node_uuid for c in mass[:5]))
    found = judge(mass, approved=few)
    assert found.departures == {c.node_uuid for c in mass[:5]}
    (rest,) = found.held
    assert set(rest.subjects) == {c.node_uuid for c in mass[5:]}
    most = shown(held, *(c.node_uuid for c in mass[5:]))
    found = judge(mass, approved=most)
    assert (found.held, found.waiting) == ([], frozenset())


def test_names_that_were_not_shown_hold_their_node_alone():
    before = [case('a', names=60), case('b', names=1)]
    (held,) = judge(before, seen(names=100)).held
    after = [case('a', names=60), case('b', names=61)]
    found = judge(after, seen(names=200), approved=shown(held))
    assert [set(one.subjects) for one in found.held] == [{'b'}]
    assert set(found.approved) == {'a'}
    assert shown(found.held[0]).isdisjoint(shown(held))


def test_a_whole_list_that_is_gone_is_approved_node_by_node():
    mass = departed(batch(3, 3))
    (held,) = judge(mass, seen(is_empty=True)).held
    some = shown(held, mass[0].node_uuid, mass[1].node_uuid)
    found = judge(mass, seen(is_empty=True), approved=some)
    assert [set(one.subjects) for one in found.held] == [{mass[2].node_uuid}]
    assert found.departures == {c.node_uuid for c in mass[:2]}


def test_a_fall_to_another_total_is_not_approved():
    def falls_to(total):
        return [case('a', totals={('a', 'VCPU'): (64, total)})]

    (held,) = judge(falls_to(2)).held
    assert judge(falls_to(2), approved=shown(held)).held == []
    assert judge(falls_to(1), approved=shown(held)).held


def test_falls_that_are_approved_leave_others_to_be_judged():
    def falls(*nodes):
        return [case(n, totals={(n, 'VCPU'): (64, 8)}) for n in nodes]

    view = seen(totals={(str(n), 'VCPU'): 64 for n in range(20)})
    (held,) = judge(falls('0', '1', '2', '3', '4', '5'), view).held
    more = falls('0', '1', '2', '3', '4', '5', '6')
    assert judge(more, view, approved=shown(held)).held == []


def test_a_limit_of_no_deletions_holds_leftovers_of_an_approved_mass_too():
    limits = blast_radius.Limits(deletions=0)
    found = judge(departed(batch(60, 0)), limits=limits)
    assert kinds(found) == [Kind.DEPARTURES]
