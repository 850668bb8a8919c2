# SPDX-License-Identifier: Apache-2.0
"""The processor time of a process and its descendants, from ``/proc``."""

import os
import pathlib

_TICKS = os.sysconf('SC_CLK_TCK')


def of_tree(root: int) -> float:
    """Return the seconds of a process and its living and ended descendants."""
    known = _processes()
    tree = {root}
    while more := {p for p, (up, _) in known.items() if up in tree} - tree:
        tree |= more
    return sum(known[pid][1] for pid in tree if pid in known) / _TICKS


def parsed(stat: str) -> tuple[int, int]:
    """Return the parent's pid and the ticks in the text of a ``stat`` file.

    The ticks include those of ended children that the process waited for.
    """
    fields = stat.rpartition(')')[2].split()  # a name may hold anything
    return int(fields[1]), sum(map(int, fields[11:15]))


def _processes() -> dict[int, tuple[int, int]]:
    found = {}
    for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            found[int(path.parent.name)] = parsed(path.read_text())
        except OSError:
            continue  # it has ended
    return found
