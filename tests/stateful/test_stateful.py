# SPDX-License-Identifier: Apache-2.0
"""Two agents among others, faults and deaths: it converges, it loses nothing.

COMPUTE_AGENT_SEQUENCES is how many sequences are run, COMPUTE_AGENT_SEED what
they are drawn from, COMPUTE_AGENT_TALLY a file for the counts. ``make
test-stateful`` runs many in two processes; here are a few, and one that once
found the model wrong.
"""

import dataclasses
import os
import pathlib
import sys

import authors as model
import hypothesis
import machine
import placement_replay as replaying
import station as stations
import tally as tallies
import world
from hypothesis import stateful

from compute_agent.virt import driver as virt

SEQUENCES = int(os.environ.get('COMPUTE_AGENT_SEQUENCES', '30'))
SEED = int(os.environ.get('COMPUTE_AGENT_SEED', '20'))
STEPS = int(os.environ.get('COMPUTE_AGENT_STEPS', '25'))


@dataclasses.dataclass(frozen=True, slots=True)
class Boot:
    """The world after everybody's first cycle."""

    placement: bytes
    records: dict[str, bytes]
    authors: model.Authors


def booted(again) -> Boot:
    """Return the world after everybody's first cycles."""
    again.start(None)
    authors = model.Authors(again)
    records = {}
    for name in world.AGENTS:
        station = stations.Station(name, again, authors)
        station.driver.wanted = {n: world.first(n) for n in world.NODES[name]}
        station.start(None)
        station.agent.done()
        station.agent.done()
        records[name] = station.record()
        station.end()
    return Boot(again.database(), records, authors)


def machine_on(placement) -> type[machine.Machine]:
    """Return a machine that acts on this placement."""

    class Machine(machine.Machine):
        replay = replaying.Replay(placement)
        boot = booted(replay)
        tally = tallies.Tally()

    return Machine


def test_it_converges_and_loses_nothing(quick_placement):
    acting = machine_on(quick_placement)
    tally = acting.tally
    settings = hypothesis.settings(
        max_examples=SEQUENCES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        stateful.run_state_machine_as_test(
            hypothesis.seed(SEED)(acting), settings=settings
        )
    finally:
        asked = acting.replay.asked
        sys.stdout.write(f'{tally}{asked} requests, seed {SEED}\n')
        if path := os.environ.get('COMPUTE_AGENT_TALLY'):
            tally.write(pathlib.Path(path))
    assert tally.sequences >= SEQUENCES


def test_what_a_lost_record_held_may_go_by_an_older_copy_of_it(
    quick_placement,
):
    acting = machine_on(quick_placement)()
    idle = ('no cycle',)
    try:
        acting.begin(booted=True)
        acting.step(change=('record', 'one', 'lose'), then=idle)
        gone = ('leave', world.N3, virt.Existence.NO)
        acting.step(change=gone, then=('cycle', 'one'))
        assert world.N3 in acting.authors.now
        old = ('record', 'one', 'roll back')
        acting.step(change=old, then=('cycle', 'one'))
        assert world.N3 not in acting.authors.now
    finally:
        acting.teardown()
