# SPDX-License-Identifier: Apache-2.0
"""Differences between nova-compute's report and the driver's.

Pure: no I/O. A difference is accepted if the list in ``accepted.yaml`` has it,
with the reason why nova-compute is wrong there, or why the driver reports more.
"""

import dataclasses
import fnmatch
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence

import reported

# libvirt's sum may grow between two readings on a kernel that gives a NUMA
# node its memory as it is used.
GROWING = ('MEMORY_MB', ('total', 'max_unit'))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that only one of the two reports has.

    :ivar subject: the provider, and the class with its field, or the trait
    :ivar nova: nova-compute's value; None if it has none
    :ivar ours: the driver's value; None if it has none
    """

    provider: str
    subject: str
    nova: object
    ours: object

    def __str__(self) -> str:
        nova = 'nothing' if self.nova is None else self.nova
        ours = 'nothing' if self.ours is None else self.ours
        return f'{self.provider}: {self.subject}: nova {nova}, here {ours}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Differences that are right, and the reason.

    The texts are patterns as of file names.

    :ivar who: the report that has it, ``nova`` or ``here``; ``both`` if the
        two have different values
    """

    why: str
    cases: Sequence[str]
    providers: Sequence[str]
    subjects: Sequence[str]
    who: str

    @classmethod
    def parse(cls, entry: Mapping[str, typing.Any]) -> typing.Self:
        """Return it, from an entry of the file."""
        return cls(
            why=entry['why'],
            cases=tuple(entry.get('cases', ['*'])),
            providers=tuple(entry.get('providers', ['*'])),
            subjects=tuple(entry['subjects']),
            who=entry['who'],
        )

    def covers(self, case: str, found: Difference) -> bool:
        """Return True if the difference is one of these."""
        who = 'nova' if found.ours is None else 'here'
        if found.nova is not None and found.ours is not None:
            who = 'both'
        return (
            who == self.who
            and _matches(case, self.cases)
            and _matches(found.provider, self.providers)
            and _matches(found.subject, self.subjects)
        )


def differences(
    nova: reported.Report, ours: Sequence[reported.Report]
) -> Iterator[Difference]:
    """Yield the differences of two reports.

    :param ours: the driver's, before and after nova-compute's
    """
    before, after = ours[0], ours[-1]
    for name in sorted({*nova, *after}):
        theirs, mine = nova.get(name), after.get(name)
        if theirs is None or mine is None:
            yield Difference(
                provider=name,
                subject='provider',
                nova=theirs and 'has it',
                ours=mine and 'has it',
            )
        else:
            first = before.get(name, mine)
            yield from _of_provider(name, theirs, (first, mine))


def _of_provider(
    name: str,
    nova: reported.Provider,
    ours: tuple[reported.Provider, reported.Provider],
) -> Iterator[Difference]:
    before, after = ours
    sides = [
        (_flat(nova), _flat(after)),
        (
            dict.fromkeys(nova.traits, 'has it'),
            dict.fromkeys(after.traits, 'has it'),
        ),
        (
            {f'aggregate {a}': 'has it' for a in nova.aggregates},
            {f'aggregate {a}': 'has it' for a in after.aggregates},
        ),
        ({'parent': nova.parent}, {'parent': after.parent}),
    ]
    early = _flat(before)
    for theirs, mine in sides:
        for subject in sorted({*theirs, *mine}):
            one, other = theirs.get(subject), mine.get(subject)
            if one == other or _grew(subject, early.get(subject), one, other):
                continue
            yield Difference(
                provider=name, subject=subject, nova=one, ours=other
            )


def _flat(provider: reported.Provider) -> dict[str, object]:
    return {
        f'{resource_class} {field}': value
        for resource_class, record in provider.inventory.items()
        for field, value in record.items()
    }


def _grew(subject: str, first: object, nova: object, last: object) -> bool:
    """Return True if nova's value lies between ours, of a class that grows."""
    resource_class, fields = GROWING
    if subject not in {f'{resource_class} {field}' for field in fields}:
        return False
    values = (first, nova, last)
    if not all(isinstance(value, int | float) for value in values):
        return False
    low, middle, high = (typing.cast(float, value) for value in values)
    return low <= middle <= high


def _matches(text: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)
