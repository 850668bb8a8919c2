# SPDX-License-Identifier: Apache-2.0
"""What operators add to providers by files, as values.

Pure: no I/O, configuration, logging or clock. ``parse.py``
makes entries of a file, ``joined`` sees that no provider is described twice,
and ``merge.py`` asserts what they say onto a tree.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping

from .. import error_text, yaml_file
from ..tree import assertion, inventory
from ..virt import finding
from . import schema


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a file adds to one provider, or to each compute node's root.

    :ivar line: where it begins in the file
    :ivar uuid: of the provider; with no name either, it is every root
    :ivar traits: trait → the line it stands on
    :ivar inventories: resource class → record
    :ivar lines_of_classes: resource class → the line it stands on
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
        """The source of what it asserts: its file."""
        return f'{assertion.FILE_PREFIX}{self.path}'

    @property
    def called(self) -> str:
        """The provider as the file has it, on one line."""
        return error_text.printable(
            self.uuid or self.name or schema.COMPUTE_NODE
        )

    def at(self, line: int | None = None) -> str:
        """Return a line of it, or its first, as ``FILE:LINE``."""
        return f'{self.path}:{line or self.line}'

    def findings(self) -> Iterator[finding.Finding]:
        """Yield the line behind each trait."""
        for trait, line in self.traits.items():
            yield finding.Finding(
                trait=trait,
                found=finding.Found.PRESENT,
                fact=self.called,
                sources=(self.at(line),),
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """All entries of all files, found by the provider.

    :ivar every_root: what each compute node's root gets
    """

    every_root: Entry | None = None
    by_uuid: Mapping[str, Entry] = dataclasses.field(default_factory=dict)
    by_name: Mapping[str, Entry] = dataclasses.field(default_factory=dict)

    @property
    def explicit(self) -> Iterator[Entry]:
        """The entries of one provider each."""
        return itertools.chain(self.by_uuid.values(), self.by_name.values())

    def of(self, uuid: str, name: str) -> list[Entry]:
        """Return the entries of one provider, in the order of the files."""
        found = [self.by_uuid.get(uuid), self.by_name.get(name)]
        some = [entry for entry in found if entry is not None]
        return sorted(some, key=lambda entry: (entry.path, entry.line))


def joined(entries: Iterable[Entry]) -> Entries:
    """Return the entries of all files together.

    :raises FileError: two are of the same uuid or name; with the place of both
    """
    first: dict[tuple[str | None, str | None], Entry] = {}
    for entry in entries:
        before = first.setdefault((entry.uuid, entry.name), entry)
        if before is not entry:
            raise yaml_file.FileError(
                entry.path,
                entry.line,
                f'provider {entry.called} stands at {before.at()} already; '
                'keep one of the two and put all that is added into it',
            )
    return Entries(
        every_root=first.get((None, None)),
        by_uuid={uuid: e for (uuid, _), e in first.items() if uuid},
        by_name={name: e for (_, name), e in first.items() if name},
    )
