# SPDX-License-Identifier: Apache-2.0
"""Two agents among others, faults and deaths: it converges, it loses nothing.

COMPUTE_AGENT_SEQUENCES is how many sequences are run, COMPUTE_AGENT_SEED what
they are drawn from, COMPUTE_AGENT_TALLY a file for the counts. ``make
test-stateful`` runs many in two processes; here are a few.
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


def test_it_converges_and_loses_nothing(quick_placement):
    tally = tallies.Tally()

    class Machine(machine.Machine):
        replay = replaying.Replay(quick_placement)
        boot = booted(replay)

    Machine.tally = tally
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
            hypothesis.seed(SEED)(Machine), settings=settings
        )
    finally:
        asked = Machine.replay.asked
        sys.stdout.write(f'{tally}{asked} requests, seed {SEED}\n')
        if path := os.environ.get('COMPUTE_AGENT_TALLY'):
            tally.write(pathlib.Path(path))
    assert tally.sequences >= SEQUENCES
