# SPDX-License-Identifier: Apache-2.0
"""Quiet cycles whose notes are the same, so that a new note tells something.

The rules that let a driver explain itself by a note begin with them.
"""

from ..rule import Broken
from ..trial import Cycle, Trial


def quiet_cycle(trial: Trial, title: str) -> Cycle:
    """Run two cycles that write nothing and have equal notes; return one.

    :raises Broken: they write, a node is not done, or the notes differ
    """
    first = trial.quiet_cycle(title)
    second = trial.quiet_cycle(title)
    changing = sorted(second.notes ^ first.notes)
    if changing:
        raise Broken(
            f'update_provider_tree in {title}',
            f'the notes of two cycles in an unchanged world differ: '
            f'{changing[0]!r} is in one of them only',
            'write the same notes about the same state: leave out what '
            'changes by itself, such as counters and times',
        )
    return second
