# SPDX-License-Identifier: Apache-2.0
"""Each course of events in ``trials.py`` by hand, in each of its forms.

The quiet point at the end of each test judges what came of it. A quick run
tries one form of each.
"""

import choices
import pytest
import seldom
import trials
import world

JUDGED = ('quiet',)
LOST = ('503', 'refused', 'reset after', 'timeout after')
KILLED = ('killed before', 'killed after')
ANYWHERE = range(7)


@pytest.mark.long
@pytest.mark.parametrize('kind', LOST)
@pytest.mark.parametrize(
    ('node', 'beside'), [(world.N3, world.N1), (world.N2, world.N3)]
)
def test_a_node_is_known_though_another_s_request_failed(
    acting, node, beside, kind
):
    trial = ('arrives in an outage', node, beside, kind, 0)
    acting.step(change=trial, then=JUDGED)


@pytest.mark.long
@pytest.mark.parametrize('kind', LOST)
def test_a_departure_waits_for_no_other_node(acting, kind):
    trial = ('departs in outages', world.N2, world.N1, kind)
    acting.step(change=trial, then=JUDGED)


@pytest.mark.long
@pytest.mark.parametrize('kind', KILLED)
@pytest.mark.parametrize('node', [world.N1, world.N4])
@pytest.mark.parametrize('slot', ['root', 'a'])
def test_allocations_after_a_crash_disown_no_name(acting, node, slot, kind):
    for at in (0, 0, 1):  # the first makes the name
        trial = ('crash and allocations', node, slot, kind, at, 0)
        acting.step(change=trial, then=JUDGED)


@pytest.mark.long
@pytest.mark.parametrize('kind', KILLED)
@pytest.mark.parametrize('at', ANYWHERE)
def test_allocations_after_a_crash_disown_no_node(acting, kind, at):
    trial = ('arrival and allocations', world.N2, kind, at, 0)
    acting.step(change=trial, then=JUDGED)


@pytest.mark.long
@pytest.mark.parametrize('kind', KILLED)
@pytest.mark.parametrize('at', ANYWHERE)
def test_a_pool_is_his_who_made_it(acting, kind, at):
    acting.step(change=('one pool of two', kind, at), then=JUDGED)


@pytest.mark.long
@pytest.mark.parametrize('kind', ['writes', 'reads'])
@pytest.mark.parametrize('node', [world.N1, world.N4])
def test_a_busy_root_keeps_no_child_waiting(acting, node, kind):
    acting.step(change=('busy root', node, kind, 0), then=JUDGED)


@pytest.mark.long
@pytest.mark.parametrize('slot', ['root', 'a'])
@pytest.mark.parametrize(
    'changes',
    [
        (),
        ('dress',),
        ('dress', 'dress'),
        ('child',),
        ('node',),
        ('dress', 'node'),
        ('dress', 'child', 'dress'),
    ],
)
def test_a_restored_placement_is_ours_as_before(acting, slot, changes):
    acting.step(change=('restored', world.N2, slot, changes), then=JUDGED)


@pytest.mark.catches(
    'nodes are recorded at the end of a cycle without an outage',
    case='arrives in an outage',
)
@pytest.mark.catches(
    "an outage of one node's writes postpones all departures",
    case='departs in outages',
)
@pytest.mark.catches(
    'an interrupted write counts at its exact generation only',
    case='crash and allocations',
)
@pytest.mark.catches(
    "an interrupted creation counts as another's once somebody allocated",
    case='arrival and allocations',
)
@pytest.mark.catches(
    'all parts are read before the first write, and a conflict drops the plan',
    case='busy root',
)
@pytest.mark.parametrize(
    'trial',
    [
        ('arrives in an outage', world.N2, world.N3, 'refused', 0),
        ('departs in outages', world.N2, world.N1, 'reset after'),
        ('crash and allocations', world.N1, 'root', 'killed after', 0, 0),
        ('arrival and allocations', world.N2, 'killed after', 6, 0),
        ('one pool of two', 'killed before', 0),
        ('busy root', world.N1, 'writes', 0),
        ('restored', world.N2, 'a', ('dress', 'child')),
    ],
    ids=lambda trial: trial[0],
)
def test_one_form_of_each(acting, trial):
    acting.step(change=trial, then=JUDGED)


@pytest.mark.catches(
    'contention counts undos within ten cycles', case='undone again'
)
@pytest.mark.catches(
    'a departed node stays on offer until somebody agrees', case='many leave'
)
@pytest.mark.catches(
    'a lower generation is believed when it is seen again', case='lags'
)
@pytest.mark.catches(
    "a first write to another's root asks nobody", case='first write'
)
@pytest.mark.parametrize(
    'event',
    [
        ('first write', world.N2),
        ('root deleted', world.N3),
        ('capacity falls', 'one'),
        ('many leave',),
        ('undone again', world.N1, True),
        ('lags', 'one'),
        ('not deletable', world.N1, 0),
        ('pool made again', 0),
    ],
    ids=lambda event: event[0],
)
def test_one_form_of_each_that_is_drawn_less_often(acting, event):
    acting.step(change=('seldom', event), then=JUDGED)


@pytest.mark.parametrize(
    ('kind', 'drawn'),
    [(trials.Trials, choices.TRIALS), (seldom.Seldom, choices.SELDOM)],
)
def test_each_trial_is_drawn(kind, drawn):
    public = {name for name in vars(kind) if name[0] != '_'}
    assert drawn.keys() == {name.replace('_', ' ') for name in public}


@pytest.mark.catches('edits stay although the driver then lacks the method')
def test_what_a_driver_said_before_a_fall_back_is_not_reported(acting):
    falls_back = ('behaviour', world.N1, 'resources')
    acting.step(change=falls_back, then=JUDGED)
    held = acting.authors.now[world.N1]
    assert held.inventories.keys() == world.OLDEST_FORM.keys()
    assert world.DISCARDED not in held.traits


def test_a_driver_that_adds_what_is_missing_comes_to_rest(acting):
    once = ('traits', world.N1, 'a', 'once', {'CUSTOM_RED'})
    acting.step(change=once, then=JUDGED)
    carried = acting.authors.now[world.child(world.N1, 'a')].traits
    assert carried >= {'CUSTOM_RED', 'CUSTOM_GOLD'}


@pytest.mark.catches('removing a name ends the claims on all others')
def test_one_name_is_removed_and_no_other(acting):
    both = {'CUSTOM_RED', 'CUSTOM_GOLD'}
    added = ('traits', world.N1, 'a', 'add', both)
    acting.step(change=added, then=('cycle', 'one'))
    removed = ('traits', world.N1, 'a', 'remove', {'CUSTOM_RED'})
    acting.step(change=removed, then=JUDGED)
    carried = acting.authors.now[world.child(world.N1, 'a')].traits
    assert carried & both == {'CUSTOM_GOLD'}


def test_what_may_be_either_s_may_be_so_again_after_a_restore(acting):
    key = (world.N1, 'aggregate', world.AGGREGATE)
    acting.authors.blurred.add(key)
    backup = acting.authors.backup()
    acting.authors.blurred.discard(key)
    acting.authors.restored(backup)
    assert acting.authors.may_own('two', key)
