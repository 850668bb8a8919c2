# SPDX-License-Identifier: Apache-2.0
"""The entries of provider-config files, as values.

Pure: no I/O, configuration, logging or clock. ``parse.py`` makes the entries of
one file, ``combine`` joins those of all files and refuses two entries for one
provider, and ``merge.py`` asserts them onto a tree.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping

from ... import error_text, yaml_file
from ...tree import assertion, inventory
from ...virt.values import finding

#: Names the root of each compute node in place of a uuid.
COMPUTE_NODE = '$COMPUTE_NODE'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The additions of a file to one provider, or to each node's root.

    :ivar line: the line of the file on which the entry begins
    :ivar uuid: the provider's; an entry with neither uuid nor name is for
        every root
    :ivar traits: trait → its line
    :ivar inventories: resource class → record
    :ivar lines_of_classes: resource class → its line
    """

    path: str
    line: int
    uuid: str | None = None
    name: str | None = None
    traits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    inventories: Mapping[str, inventory.Record] = dataclasses.field(
        default_factory=dict
    )
    lines_of_classes: Mapping[str, int] = dataclasses.field(
        default_factory=dict
    )

    @property
    def source(self) -> str:
        """The source of its assertions: the file."""
        return f'{assertion.FILE_PREFIX}{self.path}'

    @property
    def called(self) -> str:
        """The provider as the file names it, on one line."""
        return error_text.printable(self.uuid or self.name or COMPUTE_NODE)

    def at(self, line: int | None = None) -> str:
        """Return the place of a line (default: the first) as ``FILE:LINE``."""
        return f'{self.path}:{line or self.line}'

    def findings(self) -> Iterator[finding.Finding]:
        """Yield the place of each trait."""
        for trait, line in self.traits.items():
            yield finding.Finding(
                trait=trait,
                found=finding.Found.PRESENT,
                fact=self.called,
                sources=(self.at(line),),
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The entries of all files, by provider.

    :ivar every_root: the entry for each compute node's root
    """

    every_root: Entry | None = None
    by_uuid: Mapping[str, Entry] = dataclasses.field(default_factory=dict)
    by_name: Mapping[str, Entry] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return True if there is an entry."""
        return bool(self.every_root or self.by_uuid or self.by_name)

    @property
    def explicit(self) -> Iterator[Entry]:
        """The entries that name one provider."""
        return itertools.chain(self.by_uuid.values(), self.by_name.values())

    @property
    def traits(self) -> frozenset[str]:
        """The traits that any entry adds."""
        every = [
            *self.explicit,
            *([self.every_root] if self.every_root else ()),
        ]
        return frozenset(trait for entry in every for trait in entry.traits)

    def for_provider(self, uuid: str, name: str) -> list[Entry]:
        """Return the entries for one provider, in the order of the files."""
        found = [self.by_uuid.get(uuid), self.by_name.get(name)]
        return sorted(
            (entry for entry in found if entry is not None),
            key=lambda entry: (entry.path, entry.line),
        )


def combine(entries: Iterable[Entry]) -> Entries:
    """Return the entries of all files together.

    :raises FileError: two entries have the same uuid or name; the error has
        both places
    """
    first: dict[tuple[str | None, str | None], Entry] = {}
    for entry in entries:
        before = first.setdefault((entry.uuid, entry.name), entry)
        if before is not entry:
            raise yaml_file.FileError(
                entry.path,
                entry.line,
                f'provider {entry.called} already has an entry at '
                f'{before.at()}; put all additions into one entry',
            )
    return Entries(
        every_root=first.get((None, None)),
        by_uuid={uuid: e for (uuid, _), e in first.items() if uuid},
        by_name={name: e for (_, name), e in first.items() if name},
    )
