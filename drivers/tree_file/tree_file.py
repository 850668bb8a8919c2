# SPDX-License-Identifier: Apache-2.0
"""The content of a document of nodes as values, and its JSON schema.

Pure: ``parse`` takes a document that fits the schema and returns a
``TreeFile``. It opens no file and edits no tree. It refuses what placement
would refuse, and names or uuids that come twice; each message has the line. Each
description in the schema completes "write ..." in an error message.
"""

import dataclasses
import enum
import uuid as uuidlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from compute_agent import errors, yaml_file
from compute_agent.tree import inventory, names
from compute_agent.virt.values import finding

KEEP = 'keep'

_KEEP_ONLY = rf'^{KEEP}\Z'

_TEXT: dict[str, Any] = {'type': 'string'}

_PROVIDER: dict[str, Any] = {
    'name': {**_TEXT, 'description': 'the name of the provider as text'},
    'uuid': {**_TEXT, 'description': 'the uuid of the provider as text'},
    'inventories': {
        'description': 'a mapping of resource class to total, or keep',
        'type': ['object', 'string'],
        'pattern': _KEEP_ONLY,
        'additionalProperties': inventory.RECORD_SCHEMA,
    },
    'traits': {
        'description': 'a list of trait names, or keep',
        'type': ['array', 'string'],
        'pattern': _KEEP_ONLY,
        'items': {**_TEXT, 'description': 'a trait name as text'},
    },
    'aggregates': {
        'description': 'a list of aggregate uuids, or keep',
        'type': ['array', 'string'],
        'pattern': _KEEP_ONLY,
        'items': {**_TEXT, 'description': 'an aggregate uuid as text'},
    },
    'exclusive': {'type': 'boolean', 'description': 'true or false'},
    'drained': {**_TEXT, 'description': 'the reason as text'},
    'unhealthy': {
        **_TEXT,
        'minLength': 1,
        'description': 'the trouble as text',
    },
}

_BRANCH: dict[str, Any] = {
    'children': {
        'description': 'a list of providers, or keep',
        'type': ['array', 'string'],
        'pattern': _KEEP_ONLY,
        'items': {'$ref': '#/$defs/branch'},
    },
    'foreign_children': {
        'description': 'remove or leave',
        'enum': ['remove', 'leave'],
    },
}


_NODE: dict[str, Any] = {
    'moves': {
        'description': 'a list of resource classes',
        'type': 'array',
        'items': {**_TEXT, 'description': 'a resource class as text'},
    },
}


def _mapping(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        'description': 'a provider: a mapping with a name',
        'type': 'object',
        'properties': properties,
        'required': ['name'],
        'additionalProperties': False,
    }


SCHEMA: dict[str, Any] = {
    '$schema': 'https://json-schema.org/draft/2020-12/schema',
    '$defs': {
        'branch': _mapping({**_PROVIDER, **_BRANCH}),
        'sharing': _mapping(_PROVIDER),
        'node': _mapping({**_PROVIDER, **_BRANCH, **_NODE}),
    },
    'description': 'a mapping with nodes: and a list of compute nodes',
    'type': 'object',
    'properties': {
        'nodes': {
            'description': 'a list of compute nodes, [] for none',
            'type': 'array',
            'items': {'$ref': '#/$defs/node'},
        },
        'sharing_providers': {
            'description': 'a list of providers',
            'type': 'array',
            'items': {'$ref': '#/$defs/sharing'},
        },
        'node_filter': {
            'description': 'a mapping of option to value, {} for no filter',
            'type': 'object',
            'additionalProperties': {
                **_TEXT,
                'description': 'a value as text',
            },
        },
        'authority': {
            'description': 'a list of trait names, or prefixes that end in *',
            'type': 'array',
            'items': {**_TEXT, 'description': 'a trait name, or a prefix*'},
        },
    },
    'required': ['nodes'],
    'additionalProperties': False,
}

# Roots without a uuid in the file get one that is derived from their name.
NAMESPACE = uuidlib.UUID('5a4d6a2e-2f0b-4cf6-9c0d-5a0f2f6c8f0e')


Path = tuple[yaml_file.Step, ...]
Content = TypeVar('Content')


class NoNames(enum.Enum):
    """The ways to write that a file has no names of a kind."""

    OMITTED = 'omitted'
    KEEP = 'keep'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One provider as the file describes it.

    :ivar line: the line where it begins
    :ivar uuid: the uuid in the file; if None, the tree derives one
    :ivar traits: trait → its line
    :ivar exclusive: traits and aggregates are complete lists
    :ivar drained: why the file sets it aside; None if it does not
    :ivar unhealthy: the trouble for which it is set aside; None if healthy
    :ivar keeps_children: the document does not tell which children there are
    :ivar leaves_foreign: the driver does not ask to remove children that
        other writers created
    :ivar moves: resource classes whose allocations move with them; only nodes
        have them
    """

    line: int
    name: str
    uuid: str | None
    inventories: Mapping[str, inventory.Record] | NoNames
    traits: Mapping[str, int] | NoNames
    aggregates: frozenset[str] | NoNames
    exclusive: bool
    drained: str | None
    unhealthy: str | None
    keeps_children: bool
    leaves_foreign: bool
    moves: tuple[str, ...]
    children: tuple['Described', ...]

    @property
    def root_uuid(self) -> str:
        """The uuid of a root: the given one, or one derived from its name."""
        return self.uuid or str(uuidlib.uuid5(NAMESPACE, self.name))

    @property
    def lines_of_traits(self) -> Mapping[str, int]:
        """The traits that the file names, each with its line."""
        return {} if isinstance(self.traits, NoNames) else self.traits

    def walk(self) -> Iterator['Described']:
        """Yield this provider and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """The complete file: compute nodes by name, and sharing providers."""

    path: str
    nodes: Mapping[str, Described]
    sharing_providers: tuple[Described, ...]
    authority: tuple[str, ...]
    node_filter: Mapping[str, str] | None = None

    def shared_with(self, nodename: str) -> tuple[Described, ...]:
        """Return the sharing providers if this is the file's first node."""
        first = next(iter(self.nodes), None)
        return self.sharing_providers if nodename == first else ()

    def at(self, line: int) -> str:
        """Return the place of a line in the file: ``FILE:LINE``."""
        return f'{self.path}:{line}'

    def evidence(self, nodename: str) -> list[finding.Finding]:
        """Return the line behind each trait of a node's tree and its pools."""
        shared = self.shared_with(nodename)
        found = [
            self._finding(nodename, described, trait, line)
            for top in (self.nodes[nodename], *shared)
            for described in top.walk()
            for trait, line in described.lines_of_traits.items()
        ]
        shares = names.MISC_SHARES_VIA_AGGREGATE
        found += [
            self._finding(nodename, pool, shares, pool.line)
            for pool in shared
            if shares not in pool.lines_of_traits
        ]
        return found

    def _finding(
        self, nodename: str, described: Described, trait: str, line: int
    ) -> finding.Finding:
        is_root = described.name == nodename
        return finding.Finding(
            trait=trait,
            found=finding.Found.PRESENT,
            fact=described.name,
            sources=(self.at(line),),
            provider='' if is_root else described.name,
        )


def parse(
    document: yaml_file.Document, *, is_careful: bool = False
) -> TreeFile:
    """Return the file's content.

    :param is_careful: True if a provider without ``children`` keeps those that
        it has, and one without ``foreign_children`` leaves them; else both are
        removed
    :raises yaml_file.FileError: placement would refuse a name, uuid or record,
        or a name or uuid comes twice
    """
    return _Reader(document, is_careful=is_careful).file()


class _Reader:
    """Reads one document; remembers the names and uuids that it has read."""

    def __init__(
        self, document: yaml_file.Document, *, is_careful: bool
    ) -> None:
        self._document = document
        self._omitted = KEEP if is_careful else ''
        self._foreign = 'leave' if is_careful else 'remove'
        self._met: dict[str, dict[str, Path]] = {'name': {}, 'uuid': {}}

    def file(self) -> TreeFile:
        data = self._document.data
        nodes = self._roots('nodes')
        return TreeFile(
            path=self._document.path,
            nodes={n.name: n for n in nodes},
            sharing_providers=self._roots('sharing_providers'),
            authority=tuple(
                self._authority(text, 'authority', i)
                for i, text in enumerate(data.get('authority', ()))
            ),
            node_filter=data.get('node_filter'),
        )

    def _roots(self, key: str) -> tuple[Described, ...]:
        found = []
        for i, data in enumerate(self._document.data.get(key, ())):
            root = self._provider(data, key, i)
            if root.uuid is None:
                self._once('uuid', root.root_uuid, (key, i))
            found.append(root)
        return tuple(found)

    def _provider(
        self, data: Mapping[str, Any], *path: yaml_file.Step
    ) -> Described:
        return Described(
            line=self._document.line(*path),
            name=self._name(data['name'], *path, 'name'),
            uuid=self._uuid(data.get('uuid'), *path, 'uuid'),
            inventories=self._content(
                data, 'inventories', self._records, path
            ),
            traits=self._content(data, 'traits', self._traits, path),
            aggregates=self._content(data, 'aggregates', self._uuids, path),
            exclusive=data.get('exclusive', False),
            drained=data.get('drained'),
            unhealthy=data.get('unhealthy'),
            keeps_children=data.get('children', self._omitted) == KEEP,
            leaves_foreign=data.get('foreign_children', self._foreign)
            == 'leave',
            moves=tuple(
                self._class(text, *path, 'moves', i)
                for i, text in enumerate(data.get('moves', ()))
            ),
            children=tuple(
                self._provider(child, *path, 'children', i)
                for i, child in enumerate(_listed(data.get('children')))
            ),
        )

    def _content(
        self,
        data: Mapping[str, Any],
        key: str,
        read: Callable[..., Content],
        path: Path,
    ) -> Content | NoNames:
        if key not in data:
            return NoNames.OMITTED
        if data[key] == KEEP:
            return NoNames.KEEP
        return read(data[key], *path, key)

    def _name(self, text: str, *path: yaml_file.Step) -> str:
        name = self._checked(path, names.check_provider_name, text)
        return self._once('name', name, path)

    def _uuid(self, text: str | None, *path: yaml_file.Step) -> str | None:
        if text is None:
            return None
        uuid = self._checked(path, names.check_uuid, text, 'provider uuid')
        return self._once('uuid', uuid, path)

    def _once(self, key: str, value: str, path: Path) -> str:
        """Return the value, unless the file has it on an earlier line."""
        first = self._met[key].setdefault(value, path)
        if first != path:
            line = self._document.line(*first)
            raise self._document.error(
                f'provider {key} {value!r} is already on line {line}; '
                f'give each provider a {key} of its own',
                *path,
            )
        return value

    def _records(
        self, data: Mapping[str, Any], *path: yaml_file.Step
    ) -> dict[str, inventory.Record]:
        return {rc: self._record(rc, data[rc], *path, rc) for rc in data}

    def _record(
        self, rc: str, data: Any, *path: yaml_file.Step
    ) -> inventory.Record:
        record = data if isinstance(data, Mapping) else {'total': data}
        try:
            names.check_symbol(rc, 'resource class')
            inventory.from_source(record)
        except errors.InvalidName as exc:
            raise self._document.key_error(str(exc), *path) from exc
        except errors.TreeError as exc:
            problem = f'inventory of {rc}: {exc}'
            raise self._document.key_error(problem, *path) from exc
        return record

    def _traits(
        self, data: Sequence[str], *path: yaml_file.Step
    ) -> dict[str, int]:
        return {
            self._trait(text, *path, i): self._document.line(*path, i)
            for i, text in enumerate(data)
        }

    def _trait(self, text: str, *path: yaml_file.Step) -> str:
        return self._checked(path, names.check_symbol, text, 'trait')

    def _class(self, text: str, *path: yaml_file.Step) -> str:
        return self._checked(path, names.check_symbol, text, 'resource class')

    def _uuids(
        self, data: Sequence[str], *path: yaml_file.Step
    ) -> frozenset[str]:
        return frozenset(
            self._checked((*path, i), names.check_uuid, text, 'aggregate')
            for i, text in enumerate(data)
        )

    def _authority(self, text: str, *path: yaml_file.Step) -> str:
        """Return a trait name, or a prefix that ends in a star."""
        self._trait(text.removesuffix('*'), *path)
        return text

    def _checked(
        self, path: Path, check: Callable[..., str], *arguments: str
    ) -> str:
        try:
            return check(*arguments)
        except errors.InvalidName as exc:
            raise self._document.error(str(exc), *path) from exc


def _listed(children: Any) -> Sequence[Any]:
    """Return the children of a provider, which may be omitted or kept."""
    return children if isinstance(children, list) else ()
