# SPDX-License-Identifier: Apache-2.0
"""Which requirements fail, found by asking for some of them at a time.

Pure: no I/O, configuration, logging or clock. Who judges is a function, so
nothing is known here of traits or of placement.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

_Part = TypeVar('_Part')

Fits = Callable[[Sequence[_Part]], bool]


def conflicts(
    parts: Sequence[_Part], fits: Fits[_Part]
) -> list[tuple[_Part, ...]]:
    """Return sets of parts that do not fit; all others together do.

    First those that do not fit by themselves, each a set of one; then sets
    that do not fit together, though each does if any one of it is left out.
    For n parts the judge is asked n + 1 times if there are no such sets, and
    never more than (n + 1)(n + 2) / 2 times.

    :param fits: whether these parts fit; it is never asked for none
    """
    found: list[tuple[_Part, ...]]
    found = [(part,) for part in parts if not fits([part])]
    rest = [part for part in parts if (part,) not in found]
    while len(rest) > 1 and not fits(rest):
        least = _least(rest, fits)
        found.append(tuple(least))
        rest = [part for part in rest if part not in least]
    return found


def _least(parts: Sequence[_Part], fits: Fits[_Part]) -> list[_Part]:
    """Return parts that do not fit, such that any one less does.

    Each part fits by itself, so two that do not are the least there is.
    """
    least = list(parts)
    for part in reversed(parts):
        if len(least) == 2:
            break
        fewer = [other for other in least if other != part]
        if not fits(fewer):
            least = fewer
    return least
