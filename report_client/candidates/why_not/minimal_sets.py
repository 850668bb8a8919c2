# SPDX-License-Identifier: Apache-2.0
"""The smallest sets of requirements that cannot be met together.

Pure: no I/O, configuration, logging or clock. It knows nothing about
placement; ``search.py`` passes the function that asks.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

_Part = TypeVar('_Part')

Fits = Callable[[Sequence[_Part]], bool]


def minimal_sets(
    parts: Sequence[_Part], fits: Fits[_Part]
) -> list[tuple[_Part, ...]]:
    """Return sets of parts that do not fit; all other parts fit together.

    First come the parts that do not fit alone, each as a set of one part. Then
    come sets of several parts that do not fit together, although they fit if
    any one part is left out. For n parts, ``fits`` is called n + 1 times if
    there are no sets of several parts, and never more than (n + 1)(n + 2) / 2
    times.

    :param fits: returns True if these parts fit; never called without parts
    """
    found: list[tuple[_Part, ...]]
    found = [(part,) for part in parts if not fits([part])]
    rest = [part for part in parts if (part,) not in found]
    while len(rest) > 1 and not fits(rest):
        smallest = _smallest(rest, fits)
        found.append(tuple(smallest))
        rest = [part for part in rest if part not in smallest]
    return found


def _smallest(parts: Sequence[_Part], fits: Fits[_Part]) -> list[_Part]:
    """Return parts that do not fit, but fit if any one of them is left out.

    Each part fits alone, so a set of two cannot be made smaller.
    """
    smallest = list(parts)
    for part in reversed(parts):
        if len(smallest) == 2:
            break
        fewer = [other for other in smallest if other != part]
        if not fits(fewer):
            smallest = fewer
    return smallest
