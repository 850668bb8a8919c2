# SPDX-License-Identifier: Apache-2.0
"""From a provider-config file to its entries, checked to the last name.

Pure: no I/O, configuration, logging or clock. It takes a document that fits
nova's schema, and refuses what no schema says; ``files.py``
reads the document.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import errors, yaml_file, yaml_problems
from ..tree import inventory, names
from . import schema
from .entries import Entry

Path = tuple[yaml_file.Step, ...]

_EVERY_ROOT = (None, schema.COMPUTE_NODE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file's entries.

    :ivar warnings: lines about what was left out of account
    """

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()


def parse(document: yaml_file.Document) -> File:
    """Return the file's content.

    :param document: one that fits the schema
    :raises FileError: a name or record that may not be added by a file
    """
    return _Reader(document).file()


class _Reader:
    """One pass over one document."""

    def __init__(self, document: yaml_file.Document) -> None:
        self._document = document
        self._warnings: list[str] = []

    def file(self) -> File:
        data = self._document.data
        self._check_version(data['meta']['schema_version'])
        self._look_over(data, schema.SCHEMA)
        entries = [
            self._entry(one, 'providers', number)
            for number, one in enumerate(data.get('providers', ()))
        ]
        return File(
            entries=tuple(e for e in entries if self._says_anything(e)),
            warnings=tuple(self._warnings),
        )

    def _check_version(self, version: str) -> None:
        minor = version.partition('.')[2]
        if minor != schema.KNOWN_MINOR:
            self._warn(
                f'schema version {version} is newer than 1.0, which this '
                'agent knows: what is new in it is ignored',
                'meta',
                'schema_version',
            )

    def _look_over(
        self, data: Mapping[str, Any], part: Mapping[str, Any], *path: Any
    ) -> None:
        """Warn of keys that nova leaves open and nobody reads."""
        known = [key for key in part['properties'] if key[0] != '_']
        for key in data:
            if key not in known:
                self._warn(
                    f'the key {yaml_problems.shown(key)} is unknown and is '
                    f'ignored; the keys here are {", ".join(known)}',
                    *path,
                    key,
                )

    def _entry(self, data: Mapping[str, Any], *path: yaml_file.Step) -> Entry:
        self._look_over(data, schema.PROVIDER, *path)
        who = data['identification']
        uuid = who.get('uuid')
        classes = dict(self._classes(data, path))
        return Entry(
            path=self._document.path,
            line=self._document.line(*path),
            uuid=uuid.lower() if uuid not in _EVERY_ROOT else None,
            name=who.get('name'),
            traits=self._traits(data, path),
            inventories={rc: record for rc, (record, _) in classes.items()},
            lines_of_classes={rc: line for rc, (_, line) in classes.items()},
        )

    def _additional(
        self, data: Mapping[str, Any], key: str, path: Path
    ) -> Sequence[Any]:
        part = data.get(key, {})
        self._look_over(part, schema.PROVIDER['properties'][key], *path, key)
        found: Sequence[Any] = part.get('additional', ())
        return found

    def _traits(self, data: Mapping[str, Any], path: Path) -> dict[str, int]:
        lines: dict[str, int] = {}
        for number, trait in enumerate(self._additional(data, 'traits', path)):
            where = (*path, 'traits', 'additional', number)
            if not names.is_custom(trait):
                raise self._document.error(_not_custom('trait', trait), *where)
            lines.setdefault(trait, self._document.line(*where))
        return lines

    def _classes(
        self, data: Mapping[str, Any], path: Path
    ) -> Iterator[tuple[str, tuple[inventory.Record, int]]]:
        lines: dict[str, int] = {}
        some = self._additional(data, 'inventories', path)
        for number, mapping in enumerate(some):
            for rc, record in mapping.items():
                where = (*path, 'inventories', 'additional', number, rc)
                self._check_class(rc, record, where)
                if rc in lines:
                    raise self._document.key_error(
                        f'{rc} stands on line {lines[rc]} already; keep one '
                        'of the two',
                        *where,
                    )
                lines[rc] = self._document.key_line(*where)
                yield rc, (record, lines[rc])

    def _check_class(
        self, rc: str, record: inventory.Record, where: Path
    ) -> None:
        if not names.is_custom(rc):
            problem = _not_custom('resource class', rc)
            raise self._document.key_error(problem, *where)
        try:
            inventory.Inventory.from_record(record)
        except errors.TreeError as exc:
            problem = f'inventory of {rc}: {exc}'
            raise self._document.key_error(problem, *where) from exc

    def _says_anything(self, entry: Entry) -> bool:
        if entry.traits or entry.inventories:
            return True
        self._warnings.append(
            f'{entry.at()}: {entry.called} gets no traits and no inventories '
            'here, so the entry is ignored; add some, or take it out'
        )
        return False

    def _warn(self, text: str, *path: yaml_file.Step) -> None:
        line = self._document.key_line(*path)
        self._warnings.append(f'{self._document.path}:{line}: {text}')


def _not_custom(what: str, name: str) -> str:
    return (
        f'the {what} {name} is not a custom one, and standard ones are the '
        f"driver's to tell; write one that begins with {names.CUSTOM_PREFIX}"
    )
