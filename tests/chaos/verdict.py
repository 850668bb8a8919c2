# SPDX-License-Identifier: Apache-2.0
"""What is wrong with placement after a run, and with the agent's memory.

Pure. Every provider must be wanted by the driver or another's; what is wanted
must be there as it is wanted; what others added must still be there.
"""

import dataclasses
import re
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence

import cloud

WARM = 0.25  # of the readings of a process, until it is warm
GROWTH = 5 * 1024  # KiB that a warm agent may grow by
ENOUGH = 16  # readings, to say anything
_PROVIDER = re.compile(r'(?P<node>[\w-]+?)(-numa\d+)?\b(?![\w-])')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One provider as placement has it."""

    name: str
    parent: str | None
    totals: Mapping[str, int]
    traits: frozenset[str]
    aggregates: frozenset[str]


def differences(
    wanted: Mapping[str, cloud.Wanted],
    found: Mapping[str, Found],
    others: Mapping[str, frozenset[str]],
) -> list[str]:
    """Return what is not as it must be, in lines.

    :param others: provider → the traits that other writers added to it
    """
    lines = [
        f'{found[uuid].name} is in placement and nobody wants it'
        for uuid in found.keys() - wanted.keys()
    ]
    for uuid, one in wanted.items():
        if uuid not in found:
            lines.append(f'{one.name} is missing')
        else:
            theirs = others.get(uuid, frozenset())
            lines += _contents(one, found[uuid], theirs)
    return sorted(lines)


def unexplained(lines: Sequence[str], trouble: Collection[str]) -> list[str]:
    """Return the differences of nodes that the agent said no trouble of.

    :param lines: each begins with a provider's name
    :param trouble: the names of nodes
    """
    return [
        line
        for line in lines
        if _PROVIDER.match(line)['node'] not in trouble  # type: ignore[index]
    ]


def _contents(
    one: cloud.Wanted, held: Found, theirs: frozenset[str]
) -> Iterator[str]:
    if (held.name, held.parent) != (one.name, one.parent):
        yield f'{one.name} is {held.name} below {held.parent}'
    if held.totals != one.totals:
        yield f'{one.name} has {held.totals}, not {one.totals}'
    own = cloud.AGENTS_OWN if one.parent is None else frozenset()
    traits = one.traits | own | theirs
    # The agent's own traits may also be on providers below the root.
    extra = held.traits - traits - cloud.AGENTS_OWN
    lacking = traits - held.traits
    if extra or lacking:
        yield f'{one.name}: traits +{sorted(extra)} -{sorted(lacking)}'
    if held.aggregates != one.aggregates:
        yield f'{one.name}: aggregates {sorted(held.aggregates)}'


def growth(readings: Sequence[int]) -> int | None:
    """Return by how many KiB a warm process grew; None if it lived too short.

    :param readings: its resident memory after each cycle, in KiB
    """
    warm = readings[int(len(readings) * WARM) :]
    if len(readings) < ENOUGH:
        return None
    part = max(1, len(warm) // 4)
    first, last = warm[:part], warm[-part:]
    return round(statistics.median(last) - statistics.median(first))
