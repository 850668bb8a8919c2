# SPDX-License-Identifier: Apache-2.0
"""Sequences of steps of fleets (``fleets.py``): each follows from its number.

``numbers`` returns those of a seed.

``search`` runs those of agents with a planted defect until one fails.
"""

import contextlib
import random

import fleets
import pytest
import sequences
import variants
from crashing import Killed
from fleets import Stop

MOST = 400  # sequences of a search
STEPS = range(6, 19)
MEMBERS = list(fleets.MEMBERS)
SHARES = list(fleets.SHARES)
# The first node has a child, which comes and goes.
NODES = [fleets.NODE, fleets.NODE, fleets.SECOND]
HOW = (*fleets.Fleets.HOW, 'sleep', 'sleep')
# How often each step is drawn.
OFTEN = {
    'turn': 3,
    'follow': 1,
    'take_over': 3,
    'release': 1,
    'change': 8,
    'describe': 1,
    'other_writes': 2,
    'approve': 1,
    'arrive': 1,
    'remember': 2,
    'away': 1,
    'restart': 1,
}


class Drawn(random.Random):
    """Draws the steps of a sequence."""

    def sequence(self):
        """Return steps: each a name of ``Fleets`` and what it is given."""
        names, weights = zip(*OFTEN.items(), strict=True)
        count = self.choice(STEPS)
        drawn = self.choices(names, weights, k=count)
        return [(name, *self._given(name)) for name in drawn]

    def _given(self, name):
        member, share = self.choice(MEMBERS), self.choice(SHARES)
        node, yes = self.choice(NODES), self.choice([True, False])
        traits = {t for t in fleets.OURS if self.random() < 1 / 3}
        stops = [self._stop() for _ in range(self.choice([0, 1, 1, 2]))]
        return {
            'turn': (member, *stops),
            'follow': (member, *stops),
            'take_over': (member, *stops),
            'release': (member,),
            'change': (node, traits, yes, self._stop(), *stops[1:]),
            'describe': (node, traits, yes),
            'other_writes': (
                node,
                self.choice([fleets.FOREIGN, *fleets.OURS]),
                yes,
            ),
            'approve': (share,),
            'away': (member, fleets.LEASE * self.choice([0.3, 1, 2])),
            'restart': (member, yes),
        }.get(name, ())

    def _stop(self):
        return Stop(
            self.choice([0, 0, 0, 1, 1, 2, 3]),
            self.choice(fleets.EVENTS),
            self.choice(HOW),
            fleets.LEASE * self.choice([0.1, 0.3, 0.9, 1.3, 2, 2]),
        )


def run(steps):
    """Do the steps; check each, and what is left in the end."""
    with contextlib.closing(fleets.Fleets()) as acting:
        for name, *values in steps:
            getattr(acting, name)(*values)
            acting.check()
        acting.end()


def numbers(seed: int, count: int) -> range:
    """Return the numbers of the first sequences of a seed."""
    first = seed * 1_000_000
    return range(first, first + count)


def search(
    defect: variants.Variant | None, *, most: int = MOST, seed: int = 1
) -> sequences.Found:
    """Run sequences of agents with a defect, until one of them fails.

    :param defect: None for the agents as they are
    """
    found = sequences.Found(sequences=most)
    with pytest.MonkeyPatch.context() as monkeypatch:
        if defect is not None:
            defect.plant(monkeypatch)
        for count, number in enumerate(numbers(seed, most), 1):
            try:
                run(Drawn(number).sequence())
            except (Exception, Killed) as exc:  # noqa: BLE001  all end it
                failure = sequences.brief(exc)
                found = sequences.Found(sequences=count, failure=failure)
                break
    if defect is not None:
        defect.check()
    return found
