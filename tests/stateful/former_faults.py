# SPDX-License-Identifier: Apache-2.0
"""What this agent once did wrong, and random runs that must find it again.

``FOUND`` names the planted defects (``tests/mutation/planted``) that the runs
find by themselves; ``FORMER_FAULTS.md`` tells by which rule, and which faults
they cannot find. ``search`` runs sequences of the agent with a defect until
one fails. ``run.py --planted`` does so for all of them.
"""

import dataclasses
import pathlib
import sys
import traceback

import booting
import planted
import pytest
import sequences
import tally as tallies
from placement_double import service

HERE = pathlib.Path(__file__).parent
MOST = 200  # sequences
LENGTH = 160  # of what a failure says

FOUND = (
    # The tree's verbs.
    'adding a name ends the claims on all others',
    'removing a name ends the claims on all others',
    'edits stay although the driver then lacks the method',
    # Nothing is taken over, shrunk or offered by silence.
    "a first write to another's root asks nobody",
    'totals may fall as far as they like',
    'a provider that cannot be deleted is still offered',
    'contention counts undos within ten cycles',
    'a restart forgets what other writers undid',
    'a root that another deleted is created again at once',
    # Nodes that come and go while requests fail.
    'nodes are recorded at the end of a cycle without an outage',
    "an outage of one node's writes postpones all departures",
    'a cycle above its limit removes nothing at all',
    # Conflicts.
    'all parts are read before the first write, and a conflict drops the plan',
    # Crashes, and allocations before the next cycle.
    'an interrupted write counts at its exact generation only',
    "an interrupted creation counts as another's once somebody allocated",
    'a shared root is claimed after a crash, whoever created it',
    # Placement from a backup, or late.
    'a restored placement counts as providers that were created again',
    'a lower generation is believed at once',
    'a lower generation is believed when it is seen again',
    'a pool that another agent made again counts as restored',
    # Answers that no placement gives.
    'a number may be of any size',
    'half of a character passes for a name',
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The outcome of a search.

    :ivar sequences: the number of sequences that ran, the failing one included
    :ivar failure: where and why it failed; '' if none did
    """

    sequences: int
    failure: str = ''


def search(says: str, *, most: int = MOST, seed: int = 1) -> Found:
    """Run sequences of the agent with a defect, until one of them fails.

    :param says: the defect's name, '' for the agent as it is
    """
    tally = tallies.Tally()
    # It begins with what an agent without the defect left.
    acting = booting.machine_on(service.Double(), tally)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr('time.sleep', lambda _: None)
        if not says:
            return _first_failure(acting, tally, most, seed)
        planted.VARIANTS[says].plant(monkeypatch)
        found = _first_failure(acting, tally, most, seed)
    planted.VARIANTS[says].check()
    return found


def _first_failure(acting, tally, most, seed):
    failures: list[Found] = []
    watched = _watched(acting, tally, failures)
    how = sequences.How(seed=seed, prints=False)
    batch = 0
    while tally.sequences < most and not failures:
        try:
            sequences.run(watched, batch, how)
        except Exception:
            if not failures:
                raise
        batch += 1
    return failures[0] if failures else Found(sequences=tally.sequences)


def _watched(acting, tally, failures):
    """Return a machine that notes its first failure."""

    class Watched(acting):
        def teardown(self):
            exc = sys.exc_info()[1]
            try:
                super().teardown()
            except Exception as failure:
                exc = exc or failure
                raise
            finally:
                if isinstance(exc, Exception) and not failures:
                    failures.append(
                        Found(sequences=tally.sequences, failure=_brief(exc))
                    )

    return Watched


def _brief(exc):
    """Return where a failure was found, and its first words."""
    frames = [
        frame
        for frame in traceback.extract_tb(exc.__traceback__)
        if pathlib.Path(frame.filename).parent == HERE
        and not frame.filename.endswith(pathlib.Path(__file__).name)
    ]
    where = '.'.join(
        (pathlib.Path(frames[-1].filename).stem, frames[-1].name)
        if frames
        else ('agent',)
    )
    text = ' '.join(str(exc).split()) or type(exc).__name__
    return f'{where}: {text}'[:LENGTH]
