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

# libvirt adds up the memory of the NUMA nodes. On some kernels that sum grows,
# while memory is first used, to the number that the driver reports at once.
GROWING = frozenset({'MEMORY_MB total', 'MEMORY_MB max_unit'})


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

    :ivar fault: the number of nova's fault, or ``beyond nova``
    :ivar who: the report that has it, ``nova`` or ``here``; ``both`` if the
        two have different values
    :ivar by_host: only some hosts have the difference
    """

    why: str
    fault: int | str
    cases: Sequence[str]
    providers: Sequence[str]
    subjects: Sequence[str]
    who: str
    by_host: bool

    @classmethod
    def parse(cls, entry: Mapping[str, typing.Any]) -> typing.Self:
        """Return it, from an entry of the file."""
        return cls(
            why=entry['why'],
            fault=entry['fault'],
            cases=tuple(entry.get('cases', ['*'])),
            providers=tuple(entry.get('providers', ['*'])),
            subjects=tuple(entry['subjects']),
            who=entry['who'],
            by_host=entry.get('by_host', False),
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
    nova: reported.Report, ours: reported.Report, memory_mib: int = 0
) -> Iterator[Difference]:
    """Yield the differences of two reports.

    :param memory_mib: the memory of this host
    """
    for name in sorted({*nova, *ours}):
        theirs, mine = nova.get(name), ours.get(name)
        if theirs is None or mine is None:
            yield Difference(
                provider=name,
                subject='provider',
                nova=theirs and 'has it',
                ours=mine and 'has it',
            )
            continue
        for one in _of_provider(name, _flat(theirs), _flat(mine)):
            if not _grows(one, memory_mib):
                yield one


def _of_provider(
    name: str, nova: Mapping[str, object], ours: Mapping[str, object]
) -> Iterator[Difference]:
    for subject in sorted({*nova, *ours}):
        one, other = nova.get(subject), ours.get(subject)
        if one != other:
            yield Difference(
                provider=name, subject=subject, nova=one, ours=other
            )


def _flat(provider: reported.Provider) -> dict[str, object]:
    """Return everything of a provider by its subject."""
    return {
        'parent': provider.parent,
        **dict.fromkeys(provider.traits, 'has it'),
        **{f'aggregate {one}': 'has it' for one in provider.aggregates},
        **{
            f'{resource_class} {field}': value
            for resource_class, record in provider.inventory.items()
            for field, value in record.items()
        },
    }


def _grows(one: Difference, memory_mib: int) -> bool:
    """Return True for memory that the kernel has not handed out yet."""
    return (
        one.subject in GROWING
        and one.ours == memory_mib
        and isinstance(one.nova, int)
        and one.nova < memory_mib
    )


def _matches(text: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)
