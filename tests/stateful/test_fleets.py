# SPDX-License-Identifier: Apache-2.0
"""Fleets that stop at any step: no second writer, nothing lost, nothing taken.

A sequence of steps (``fleet_sequences.py``) follows from its number, which a
failure names. COMPUTE_AGENT_FLEETS is how many there are, COMPUTE_AGENT_SEED
which; ``make test-stateful`` runs 10,000.
"""

import os

import fleet_sequences
import pytest
from crashing import Killed

SEQUENCES = int(os.environ.get('COMPUTE_AGENT_FLEETS', '40'))
SEED = int(os.environ.get('COMPUTE_AGENT_SEED', '0'))


@pytest.mark.long
@pytest.mark.catches('a beat counts by the wall clock')
@pytest.mark.catches('a beat counts from its answer')
@pytest.mark.catches('a deposed agent keeps its role')
@pytest.mark.catches('a standby takes a lease that it did not look at')
@pytest.mark.catches('a standby waits only as long as its own lease')
@pytest.mark.catches('the writes of a predecessor are not settled')
@pytest.mark.catches(
    'the generation of a provider with an inherited write stays'
)
@pytest.mark.catches(
    'a holder goes on with its own record, not with that of the share'
)
@pytest.mark.catches(
    'changes of the contents that placement had are not noted'
)
@pytest.mark.catches(
    'the entries of the history stay on the host of their agent'
)
@pytest.mark.catches('the fence of a commit does not compare the epoch')
@pytest.mark.catches('a holder counts its commits itself')
def test_a_fleet_that_stops_at_any_step():
    for number in fleet_sequences.numbers(SEED, SEQUENCES):
        try:
            fleet_sequences.run(fleet_sequences.Drawn(number).sequence())
        except (Exception, Killed) as exc:
            exc.add_note(f'sequence {number}')
            raise
