# SPDX-License-Identifier: Apache-2.0
"""Parse a provider-config file into entries; every name is checked.

Pure: no I/O, configuration, logging or clock. The input is a document that fits
nova's schema. This module checks the rules that a schema cannot express.
``files.py`` reads the document.

The schema is nova's schema 1.0, so every file that nova-compute accepts fits;
keys that nova's schema allows are allowed, with a warning. Each description in
it completes "write ..." in an error.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ... import errors, yaml_file, yaml_problems
from ...tree import inventory, names
from .entry import COMPUTE_NODE, Entry

KNOWN_MINOR = '0'

# \Z, because $ would accept a line break at the end.
_NAME = r'^[A-Z0-9_]{1,255}\Z'
_UUID = '[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}'
_NUMBERS = {'allocation_ratio': ('number', 'a number')}
_INTEGER = ('integer', 'a whole number')

_RECORD: dict[str, Any] = {
    'description': 'a mapping of inventory fields, total among them',
    'type': 'object',
    'properties': {
        field: {'type': kind, 'description': description}
        for field in sorted(inventory.FIELDS)
        for kind, description in [_NUMBERS.get(field, _INTEGER)]
    },
    'required': ['total'],
    'additionalProperties': False,
}

_IDENTIFICATION: dict[str, Any] = {
    'description': 'a mapping with either uuid or name',
    'type': 'object',
    'properties': {
        'uuid': {
            'description': f'the uuid of a provider, or {COMPUTE_NODE}',
            'type': 'string',
            'pattern': rf'^({_UUID}|\{COMPUTE_NODE})\Z',
        },
        'name': {
            'description': 'the name of a provider, 1 to 200 characters',
            'type': 'string',
            'minLength': 1,
            'maxLength': 200,
        },
    },
    'minProperties': 1,
    'maxProperties': 1,
    'additionalProperties': False,
}

_INVENTORIES: dict[str, Any] = {
    'description': 'a mapping with additional: and a list',
    'type': 'object',
    'properties': {
        'additional': {
            'description': 'a list of mappings of resource class to record',
            'type': 'array',
            'items': {
                'description': 'a mapping of resource class to record; the '
                'classes are custom ones, CUSTOM_ and of A-Z, 0-9 and _',
                'type': 'object',
                'propertyNames': {
                    'description': 'a resource class: CUSTOM_ and some of '
                    'A-Z, 0-9 and _',
                    'pattern': _NAME,
                },
                'additionalProperties': _RECORD,
            },
        },
    },
}

_TRAITS: dict[str, Any] = {
    'description': 'a mapping with additional: and a list',
    'type': 'object',
    'properties': {
        'additional': {
            'description': 'a list of custom traits',
            'type': 'array',
            'items': {
                'description': 'a custom trait: CUSTOM_ and some of A-Z, 0-9 '
                'and _',
                'type': 'string',
                'pattern': _NAME,
            },
        },
    },
}

PROVIDER: dict[str, Any] = {
    'description': 'a provider: a mapping with identification',
    'type': 'object',
    'properties': {
        'identification': _IDENTIFICATION,
        'inventories': _INVENTORIES,
        'traits': _TRAITS,
    },
    'required': ['identification'],
}

SCHEMA: dict[str, Any] = {
    '$schema': 'https://json-schema.org/draft/2020-12/schema',
    'description': 'a mapping with meta: and providers:',
    'type': 'object',
    'properties': {
        '__source_file': {
            'description': 'another key: nova uses this one itself',
            'not': {},
        },
        'meta': {
            'description': "a mapping with schema_version: '1.0'",
            'type': 'object',
            'properties': {
                'schema_version': {
                    'description': "'1.0', in quotes",
                    'type': 'string',
                    'pattern': r'^1\.(0|[1-9][0-9]{0,8})\Z',
                },
            },
            'required': ['schema_version'],
        },
        'providers': {
            'description': 'a list of providers',
            'type': 'array',
            'items': PROVIDER,
        },
    },
    'required': ['meta'],
}


Path = tuple[yaml_file.Step, ...]

_EVERY_ROOT = (None, COMPUTE_NODE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file's entries.

    :ivar warnings: lines about ignored parts of the file
    """

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()


def parse(document: yaml_file.Document) -> File:
    """Return the file's content.

    :param document: a document that fits the schema
    :raises FileError: a file may not add a certain name or record
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
        self._warn_of_unknown_keys(data, SCHEMA)
        entries = [
            self._entry(item, 'providers', number)
            for number, item in enumerate(data.get('providers', ()))
        ]
        return File(
            entries=tuple(e for e in entries if self._adds_anything(e)),
            warnings=tuple(self._warnings),
        )

    def _check_version(self, version: str) -> None:
        minor = version.partition('.')[2]
        if minor != KNOWN_MINOR:
            self._warn(
                f'schema version {version} is newer than 1.0, the version '
                'that this agent knows: what is new in it is ignored',
                'meta',
                'schema_version',
            )

    def _warn_of_unknown_keys(
        self, data: Mapping[str, Any], part: Mapping[str, Any], *path: Any
    ) -> None:
        """Warn of keys that nova's schema allows and no program reads."""
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
        self._warn_of_unknown_keys(data, PROVIDER, *path)
        identification = data['identification']
        uuid = identification.get('uuid')
        classes = dict(self._classes(data, path))
        return Entry(
            path=self._document.path,
            line=self._document.line(*path),
            uuid=uuid.lower() if uuid not in _EVERY_ROOT else None,
            name=identification.get('name'),
            traits=self._traits(data, path),
            inventories={rc: record for rc, (record, _) in classes.items()},
            lines_of_classes={rc: line for rc, (_, line) in classes.items()},
        )

    def _additional(
        self, data: Mapping[str, Any], key: str, path: Path
    ) -> Sequence[Any]:
        part = data.get(key, {})
        part_schema = PROVIDER['properties'][key]
        self._warn_of_unknown_keys(part, part_schema, *path, key)
        additional: Sequence[Any] = part.get('additional', ())
        return additional

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
        additional = self._additional(data, 'inventories', path)
        for number, mapping in enumerate(additional):
            for rc, record in mapping.items():
                where = (*path, 'inventories', 'additional', number, rc)
                self._check_class(rc, record, where)
                if rc in lines:
                    raise self._document.key_error(
                        f'{rc} is already on line {lines[rc]}; keep one of '
                        'the two',
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
            inventory.from_source(record)
        except errors.TreeError as exc:
            problem = f'inventory of {rc}: {exc}'
            raise self._document.key_error(problem, *where) from exc

    def _adds_anything(self, entry: Entry) -> bool:
        if entry.traits or entry.inventories:
            return True
        self._warnings.append(
            f'{entry.at()}: the entry for {entry.called} has no traits and '
            'no inventories, so it is ignored; add some, or remove it'
        )
        return False

    def _warn(self, text: str, *path: yaml_file.Step) -> None:
        line = self._document.key_line(*path)
        self._warnings.append(f'{self._document.path}:{line}: {text}')


def _not_custom(kind: str, name: str) -> str:
    return (
        f'the {kind} {name} is not a custom one, and only the driver reports '
        f'standard ones; write one that begins with {names.CUSTOM_PREFIX}'
    )
