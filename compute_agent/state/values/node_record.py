# SPDX-License-Identifier: Apache-2.0
"""The record of one node, in the form that agents hand over.

Pure: no I/O, configuration, logging or clock. A node that moves (to another
shard, or to another host's agent) leaves its record behind: which providers
were created for it, which names were added, and which sources claimed them.
This module defines that record and its data form, which any agent of the same
or a newer version can read. Used by ``handover.py`` and ``cmd/state.py``.

Each description in the JSON schema completes "write ..." in an error message.
Names and uuids are checked by placement's rules.
"""

import contextlib
import dataclasses
import difflib
import json
import typing
from collections.abc import (
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

from ... import error_text, errors, yaml_problems
from ...ownership.record import Record
from ...tree import assertion, names
from ...tree.node import Node

FORMAT = 'compute-agent node record'
VERSION = 1


def _object(
    description: str, properties: Mapping[str, Any], *, required: bool = True
) -> dict[str, Any]:
    return {
        'description': description,
        'type': 'object',
        'properties': properties,
        'required': list(properties) if required else [],
        'additionalProperties': False,
    }


def _by_kind(description: str, content: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {kind.value: content for kind in assertion.Kind}
    return _object(description, kinds, required=False)


# JSON can spell lone surrogates, which SQLite refuses.
_SURROGATES = r'\ud800-\udfff'
_CLASS = rf'[^\s:,{_SURROGATES}]+:[^\s:,{_SURROGATES}]+'
_TEXT = {
    'type': 'string',
    'maxLength': names.MAX_NAME,
    'description': f'text of at most {names.MAX_NAME} characters',
    'pattern': rf'^[^{_SURROGATES}]*\Z',
}
_NAMES = {
    'description': 'a list of names',
    'type': 'array',
    'items': _TEXT,
}
_CLAIMS = {
    'description': 'an object of source to names',
    'type': 'object',
    'propertyNames': {
        'description': 'a source: driver, agent, or file: and a path',
        'pattern': rf'^(driver|agent|(driver|file):[^\n{_SURROGATES}]+)\Z',
    },
    'additionalProperties': _NAMES,
}
SCHEMA = _object(
    'a record of a node',
    {
        'format': {'const': FORMAT, 'description': FORMAT},
        'version': {'const': VERSION, 'description': str(VERSION)},
        'node': _object(
            'an object with uuid, name, title and driver',
            {
                'uuid': _TEXT,
                'name': _TEXT,
                'title': _TEXT,
                'driver': {
                    'description': 'a class as module:Class',
                    'type': 'string',
                    'pattern': rf'^{_CLASS}(,{_CLASS})*\Z',
                },
            },
        ),
        'providers': {
            'description': 'a list of providers',
            'type': 'array',
            'items': _object(
                'an object with uuid, created, ours and held',
                {
                    'uuid': _TEXT,
                    'created': {
                        'type': 'boolean',
                        'description': 'true or false',
                    },
                    'ours': _by_kind('an object of kind to names', _NAMES),
                    'held': _by_kind('an object of kind to sources', _CLAIMS),
                },
            ),
        },
    },
)


WANTED = 'give the output of "compute-agent state export NODE"'
_FEW = 3  # names that an error lists


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A node, and everything recorded of its providers.

    :ivar driver: the class that described the node, as ``module:Class``; the
        classes of several drivers have commas between them
    """

    node: Node
    driver: str
    record: Record

    def __post_init__(self) -> None:
        """Refuse an empty record.

        :raises errors.ConfigError: nothing is recorded
        """
        if self.record == Record():
            raise errors.ConfigError(
                f'nothing is recorded of node {self.node}: there is nothing '
                'to hand over'
            )

    @property
    def providers(self) -> list[str]:
        """The uuids of the recorded providers, the node's root first."""
        record = self.record
        uuids = {
            *record.created,
            *(u for u, _ in (*record.ours, *record.claims)),
        }
        return sorted(uuids, key=lambda uuid: (uuid != self.node.uuid, uuid))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GivenRecord:
    """The record of a node between two shares: given by one, and not taken.

    :ivar share: the share that gave the record away
    :ivar generations: the generations of the node's providers at that time
    :ivar mark: the share's mark, as a trait. The taker may remove it from the
        root, even if the record no longer says that the giver added it
    """

    share: str
    record: NodeRecord
    generations: Mapping[str, int]
    mark: str = ''

    def text(self) -> str:
        """Return it as a text, for the shared database."""
        return json.dumps(
            {
                'share': self.share,
                'generations': dict(self.generations),
                'mark': self.mark,
                'record': data(self.record),
            }
        )

    @classmethod
    def from_text(cls, text: str) -> typing.Self:
        """Return the record in a text.

        :raises errors.ConfigError: the text is no record, or an agent of a
            newer version wrote it
        """
        try:
            given = json.loads(text)
            return cls(
                share=str(given['share']),
                record=from_data(given['record']),
                mark=str(given['mark']),
                generations={
                    str(uuid): int(number)
                    for uuid, number in given['generations'].items()
                },
            )
        except (AttributeError, LookupError, TypeError, ValueError) as exc:
            raise errors.ConfigError(
                'the record of a node that moves to another share cannot be '
                f'read ({error_text.one_line(exc)}): delete its row in the '
                'table node_record, which has no share'
            ) from exc

    def fitting(
        self, tree: Container[str], seen: Mapping[str, int]
    ) -> NodeRecord | None:
        """Return the part about the providers of a tree; None if it is empty.

        :param seen: the generations of the providers. A provider with a lower
            generation than before is a new one: somebody deleted and created
            it.
        """
        same = {
            uuid
            for uuid, number in seen.items()
            if uuid in tree and number >= self.generations.get(uuid, 0)
        }
        if self.record.node.uuid not in same:
            return None
        with contextlib.suppress(errors.ConfigError):
            found = within(self.record, same)
            key = (found.node.uuid, assertion.Kind.TRAIT)
            ours = found.record.with_ours(key, {self.mark} - {''})
            return dataclasses.replace(found, record=ours)
        return None


def within(handed: NodeRecord, tree: Container[str]) -> NodeRecord:
    """Return the part of a record about the providers of a tree.

    :raises errors.ConfigError: no provider of the record is in the tree
    """
    record = handed.record
    if not any(uuid in tree for uuid in handed.providers):
        raise errors.ConfigError(
            f'nothing was imported: the record of {handed.node} is about '
            "providers that placement does not have in the node's tree"
        )
    return dataclasses.replace(
        handed,
        record=Record(
            created=frozenset(u for u in record.created if u in tree),
            ours={k: v for k, v in record.ours.items() if k[0] in tree},
            claims={k: v for k, v in record.claims.items() if k[0] in tree},
        ),
    )


def find(nodes: Sequence[Node], wanted: str) -> Node:
    """Return the node with this uuid or, if it is the only one, this name.

    :raises errors.ConfigError: no node or several nodes match
    """
    by_uuid = {node.uuid: node for node in nodes}
    if wanted.lower() in by_uuid:
        return by_uuid[wanted.lower()]
    found = [n for n in nodes if wanted in {n.name, n.title}]
    if len(found) == 1:
        return found[0]
    if found:
        uuids = ', '.join(node.uuid for node in found)
        raise errors.ConfigError(
            f'several nodes are called {wanted}: give the uuid, {uuids}'
        )
    raise errors.ConfigError(
        f'nothing is recorded of node {wanted}; {_known(nodes, wanted)}'
    )


def data(handed: NodeRecord) -> dict[str, Any]:
    """Return the record as data for JSON, in a stable order.

    Agents of other versions read it, so its keys never change: the key of the
    claims is still ``held``.
    """
    node = handed.node
    return {
        'format': FORMAT,
        'version': VERSION,
        'node': {
            'uuid': node.uuid,
            'name': node.name,
            'driver': handed.driver,
            'title': node.title,
        },
        'providers': [
            _provider(handed.record, uuid) for uuid in handed.providers
        ],
    }


def from_data(given: Any) -> NodeRecord:
    """Return the record in this data, with every name checked.

    :raises errors.ConfigError: the data is not a record, or is from a newer
        version
    """
    _check_version(given)
    worst, _ = yaml_problems.worst_violation(given, SCHEMA)
    if worst is not None:
        _, problem = yaml_problems.schema_problem(worst)
        where = yaml_problems.place(worst.absolute_path)
        raise errors.ConfigError(where + problem)
    return _record(given)


def _provider(record: Record, uuid: str) -> dict[str, Any]:
    keys = {kind: (uuid, kind) for kind in assertion.Kind}
    return {
        'uuid': uuid,
        'created': uuid in record.created,
        'ours': {
            kind.value: sorted(record.ours[key])
            for kind, key in keys.items()
            if key in record.ours
        },
        'held': {
            kind.value: {
                source: sorted(claimed)
                for source, claimed in sorted(record.claims[key].items())
            }
            for kind, key in keys.items()
            if key in record.claims
        },
    }


def _known(nodes: Sequence[Node], wanted: str) -> str:
    known = sorted({node.called for node in nodes})
    if not known:
        return 'the state has no nodes: check [DEFAULT] state_path'
    close = difflib.get_close_matches(wanted, known, n=_FEW)
    few = close or known[:_FEW]
    more = len(known) - len(few)
    return f'known nodes: {", ".join(few)}' + (
        f' and {more} more' * bool(more)
    )


def _check_version(given: Any) -> None:
    """Refuse data that is not a record, and records of newer versions.

    :raises errors.ConfigError: the data is no record, or a newer agent's
    """
    if not isinstance(given, dict) or given.get('format') != FORMAT:
        raise errors.ConfigError(f'it is not the record of a node; {WANTED}')
    version, known = given.get('version'), VERSION
    if isinstance(version, int) and version > known:
        raise errors.ConfigError(
            f'the record has version {yaml_problems.shown(version)}, and this '
            f'agent reads version {known}: import it with an agent as new as '
            'the one that exported it'
        )


# --- reading ------------------------------------------------------------------


def _record(given: Mapping[str, Any]) -> NodeRecord:
    """Return the record in data that fits the schema."""
    with _in_place('node'):
        node = Node(
            uuid=names.check_uuid(given['node']['uuid'], 'node'),
            name=names.check_provider_name(given['node']['name']),
            title=given['node']['title'],
        )
    parts: dict[str, Record] = {}
    for number, item in enumerate(given['providers']):
        with _in_place('providers', number):
            uuid = names.check_uuid(item['uuid'], 'provider')
            if uuid in parts:
                raise errors.InvalidName(f'provider {uuid} is listed twice')
            parts[uuid] = _part(uuid, item)
    records = parts.values()
    return NodeRecord(
        node=node,
        driver=given['node']['driver'],
        record=Record(
            created=frozenset().union(*(r.created for r in records)),
            ours={k: v for r in records for k, v in r.ours.items()},
            claims={k: v for r in records for k, v in r.claims.items()},
        ),
    )


def _part(uuid: str, item: Mapping[str, Any]) -> Record:
    """Return the record of one provider, without its empty lists."""
    kinds = {kind.value: kind for kind in assertion.Kind}
    return Record(
        created=frozenset({uuid} if item['created'] else ()),
        ours={
            (uuid, kinds[kind]): _CHECKS[kinds[kind]](added)
            for kind, added in item['ours'].items()
            if added
        },
        claims={
            (uuid, kinds[kind]): {
                source: _CHECKS[kinds[kind]](claimed)
                for source, claimed in by_source.items()
            }
            for kind, by_source in item['held'].items()
            if by_source
        },
    )


def _check_classes(classes: Iterable[str]) -> frozenset[str]:
    return frozenset(names.check_symbol(n, 'resource class') for n in classes)


@contextlib.contextmanager
def _in_place(*path: yaml_problems.Step) -> Iterator[None]:
    """Name the place in the data of a name that placement would refuse.

    :raises errors.ConfigError: raised in place of ``InvalidName``
    """
    try:
        yield
    except errors.InvalidName as exc:
        where = yaml_problems.place(path)
        raise errors.ConfigError(f'{where}{exc}') from exc


_CHECKS: Mapping[assertion.Kind, Callable[[Iterable[str]], frozenset[str]]] = {
    assertion.Kind.TRAIT: names.check_traits,
    assertion.Kind.AGGREGATE: names.check_aggregates,
    assertion.Kind.INVENTORY: _check_classes,
}
