# SPDX-License-Identifier: Apache-2.0
"""Three agents among others, faults and deaths: it converges, it loses nothing.

COMPUTE_AGENT_SEQUENCES is how many sequences are run, COMPUTE_AGENT_SEED what
they are drawn from, COMPUTE_AGENT_BATCH the first batch of these that is run,
COMPUTE_AGENT_TALLY a file for the counts. To make a failing
sequence short takes minutes; COMPUTE_AGENT_SHRINK=0 prints it as it is. A batch
that fails is named at the end, and the others go on. ``make test-stateful``
runs many in two processes; here are a few, and some by hand: one that once
found the model wrong, and one for each thing that is seldom drawn.
"""

import functools
import itertools
import os
import pathlib
import sys

import booting
import placement_replay
import pytest
import quiet
import sequences
import tally as tallies
import world
from placement_double import both, service

from compute_agent.virt import driver as virt

SEQUENCES = int(os.environ.get('COMPUTE_AGENT_SEQUENCES', '30'))
SEED = int(os.environ.get('COMPUTE_AGENT_SEED', '20'))
FIRST_BATCH = int(os.environ.get('COMPUTE_AGENT_BATCH', '0'))
STEPS = int(os.environ.get('COMPUTE_AGENT_STEPS', '25'))
SHRINKS = os.environ.get('COMPUTE_AGENT_SHRINK') != '0'
# With COMPUTE_AGENT_PLACEMENT=double the sequences ask the real placement's
# double, which takes a hundredth of the time, and those of one batch in
# COMPARED ask both: they must agree.
DOUBLE = os.environ.get('COMPUTE_AGENT_PLACEMENT') == 'double'
COMPARED = 100
IDLE = ('no cycle',)
_PLACEMENTS = {
    'real': placement_replay.Replay,
    'double': lambda _: service.Double(),
    'both': both.Both,
}


def _kind(batch, *, double=DOUBLE):
    """Return the placement that a batch asks."""
    if not double:
        return 'real'
    return 'both' if batch % COMPARED == COMPARED // 10 else 'double'


@pytest.mark.long
def test_it_converges_and_loses_nothing(quick_placement):
    path = os.environ.get('COMPUTE_AGENT_TALLY')
    tally = tallies.Tally(pathlib.Path(path) if path else None)

    @functools.cache
    def acting(kind):
        again = _PLACEMENTS[kind](quick_placement)
        return booting.machine_on(again, tally)

    how = sequences.How(
        seed=SEED,
        at_a_time=min(sequences.AT_A_TIME, SEQUENCES),
        steps=STEPS,
        shrinks=SHRINKS,
    )
    batches = itertools.count(FIRST_BATCH)
    try:
        sequences.run_many(
            lambda batch: acting(_kind(batch)), batches, how, tally, SEQUENCES
        )
    finally:
        sys.stdout.write(f'{tally}seed {SEED}, next batch {next(batches)}\n')
    assert tally.sequences >= SEQUENCES


def test_many_sequences_ask_both_now_and_then():
    kinds = [_kind(batch, double=True) for batch in range(2 * COMPARED)]
    assert kinds.count('both') == 2
    assert kinds.count('double') == 2 * (COMPARED - 1)


def test_what_a_lost_record_held_may_go_by_an_older_copy_of_it(acting):
    acting.step(change=('record', 'one', 'lose'), then=IDLE)
    gone = ('leave', world.N3, virt.Existence.NO)
    acting.step(change=gone, then=('cycle', 'one'))
    assert world.N3 in acting.authors.now
    old = ('record', 'one', 'roll back')
    acting.step(change=old, then=('cycle', 'one'))
    assert world.N3 not in acting.authors.now


@pytest.mark.parametrize(
    ('agent', 'node'), [('one', world.N1), ('two', world.N4)]
)
def test_what_is_in_use_moves_with_its_class_and_back(acting, agent, node):
    ends = node, world.child(node, 'a')
    for back, (giver, taker) in ((False, ends), (True, ends[::-1])):
        moved = ('reshape', node, 'a', back, 1)
        acting.step(change=moved, then=IDLE)
        used = acting.authors.now[giver].allocations
        assert used
        acting.step(change=('nothing',), then=('cycle', agent))
        assert acting.authors.now[taker].allocations.items() >= used.items()
        assert not acting.authors.now[giver].allocations


def test_what_another_takes_meanwhile_is_not_lost_by_a_move(acting):
    """The consumer that is to move has something else all of a sudden."""
    deep = world.child(world.N1, 'deep')
    now = acting.authors.now
    acting.step(
        change=('reshape', world.N1, 'a', False, 0),
        then=(
            'disturbed',
            'one',
            True,
            0,
            'allocate',
            sorted(now).index(deep),
            0,
        ),
    )
    assert acting.authors.now[deep].allocations
    assert not acting.authors.now[world.child(world.N1, 'a')].allocations


def test_what_would_come_beside_what_is_in_use_waits_for_it(acting):
    """The class that moves finds another there, which is to go and cannot."""
    deep = world.child(world.N4, 'deep')
    place = sorted(acting.authors.now).index(deep)
    used = ('other', 'allocate', place, 1)
    acting.step(change=used, then=IDLE)
    nothing = ('inventory', world.N4, 'deep', 'update', {})
    acting.step(change=nothing, then=IDLE)
    acting.step(
        change=('reshape', world.N4, 'deep', False, 0), then=('quiet',)
    )
    assert acting.authors.now[world.N4].allocations
    acting.step(change=('other', 'release', place, 1), then=('quiet',))
    assert not acting.authors.now[world.N4].allocations
    moved = acting.authors.now[deep].allocations
    assert {rc for _, rc in moved} == {'VCPU'}


def test_what_nobody_says_to_take_stays(acting):
    acting.step(change=('reshape', world.N3, 'a', False, 0), then=IDLE)
    silent = ('inventory', world.N3, 'a', 'silent', {'VCPU': (16, None)})
    acting.step(change=silent, then=('cycle', 'one'))
    assert acting.authors.now[world.N3].allocations
    acting.step(change=('nothing',), then=('quiet',))


def test_of_a_renamed_node_nothing_is_written(acting):
    acting.step(change=('root name', world.N1, False), then=IDLE)
    more = ('traits', world.N1, 'root', 'declare', {'CUSTOM_RED'})
    acting.step(change=more, then=('cycle', 'one'))
    assert 'CUSTOM_RED' not in acting.authors.now[world.N1].traits
    own = ('root name', world.N1, True)
    acting.step(change=own, then=('cycle', 'one'))
    assert 'CUSTOM_RED' in acting.authors.now[world.N1].traits


def test_what_was_adopted_goes(acting):
    acting.step(change=('other', 'create child', 0, 0), then=('cycle', 'one'))
    (external,) = (u for u in acting.authors.now if u[0] == 'e')
    node = acting.authors.now[external].parent
    below = quiet.below(acting.authors.now, node)[1:]
    adopted = ('adopt', node, below.index(external))
    acting.step(change=adopted, then=('cycle', 'one'))
    assert external not in acting.authors.now


def test_what_was_adopted_after_it_was_made_anew_goes(acting):
    """Its generation fell, and the agent waits for the next cycle to tell."""
    child = world.child(world.N2, 'a')
    place = sorted(acting.authors.now).index(child)
    anew = ('other', 're-create provider', place, 1)
    acting.step(change=anew, then=('cycle', 'one'))
    acting.step(change=('adopt', world.N2, 0), then=IDLE)
    gone = ('leave', world.N2, virt.Existence.NO)
    acting.step(change=gone, then=('cycle', 'one'))
    assert not {world.N2, child} & acting.authors.now.keys()


@pytest.mark.parametrize('acting', [False], indirect=True)
def test_one_made_anew_in_the_middle_of_its_first_turn_gets_all(acting):
    anew = ('disturbed', 'one', True, 2, 're-create provider', 0, 1)
    acting.step(change=('behaviour', world.N1, 'inventory'), then=anew)
    acting.step(change=('nothing',), then=('cycle', 'one'))
    assert acting.authors.now[world.N1].traits >= world.OWN_TRAITS


def test_one_made_anew_by_as_many_writes_is_seen_at_the_next(acting):
    deep = world.child(world.N1, 'deep')
    gone = ('child', world.N1, 'deep', 'none')
    acting.step(change=gone, then=('cycle', 'one'))
    acting.step(change=('child', world.N1, 'deep', 'root'), then=IDLE)
    red = ('traits', world.N1, 'deep', 'declare', {'CUSTOM_RED'})
    acting.step(change=red, then=('cycle', 'one'))
    before = acting.authors.now[deep].generation
    place = sorted(acting.authors.now).index(deep)
    anew = ('other', 're-create provider', place, 0)
    acting.step(change=anew, then=IDLE)
    write = ('other', 'add trait', place, 1)
    acting.step(change=write, then=('cycle', 'one'))
    assert acting.authors.now[deep].generation == before
    assert 'CUSTOM_RED' not in acting.authors.now[deep].traits
    acting.step(change=('nothing',), then=('quiet',))
    assert 'CUSTOM_RED' in acting.authors.now[deep].traits


def test_no_more_is_deleted_than_is_allowed(acting):
    acting.step(change=('limit', 'one', 0), then=IDLE)
    child = world.child(world.N2, 'a')
    gone = ('child', world.N2, 'a', 'none')
    acting.step(change=gone, then=('cycle', 'one'))
    assert child in acting.authors.now
    allowed = ('limit', 'one', 20)
    acting.step(change=allowed, then=('cycle', 'one'))
    assert child not in acting.authors.now


def test_what_placement_refuses_offers_nothing(acting):
    """A trait goes just before capacity comes: that is a conflict."""
    now = acting.authors.now
    place = sorted(now).index(world.N4)
    gone = sorted(now[world.N4].traits).index('HW_CPU_X86_AVX')
    more = {'VCPU': (16, None)}
    acting.step(
        change=('inventory', world.N4, 'root', 'update', more),
        then=('disturbed', 'two', True, 0, 'remove trait', place, gone),
    )
    held = acting.authors.now[world.N4]
    assert 'HW_CPU_X86_AVX' in held.traits
    assert held.inventories['VCPU'].total == 16


def test_a_fault_that_meets_no_request_waits_for_one(acting):
    acting.step(change=('nothing',), then=('faulty', 'one', '503', 0))
    more = ('traits', world.N1, 'root', 'declare', {'CUSTOM_RED'})
    acting.step(change=more, then=('cycle', 'one'))
    assert 'CUSTOM_RED' not in acting.authors.now[world.N1].traits
    acting.step(change=('nothing',), then=('cycle', 'one'))
    assert 'CUSTOM_RED' in acting.authors.now[world.N1].traits
