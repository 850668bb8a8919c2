# SPDX-License-Identifier: Apache-2.0
"""The record of one node as it goes from one agent to another.

Pure: no I/O, configuration, logging or clock. A node that moves (to another
shard, or another host's agent) leaves behind what was recorded of it: which
providers were created for it, which names were added, and who held them. This
is that record and its data form, which any agent of the same version or a
newer one reads. Used by ``state.py`` and ``cmd/state.py``.
"""

import contextlib
import dataclasses
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jsonschema

from .. import errors, yaml_problems
from ..ownership.record import Record
from ..tree import assertion, names, provider
from . import handover_schema

WANTED = 'give what "compute-agent state export NODE" printed'
_FEW = 3  # names that an error lists


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node that an agent has, or once had.

    :ivar driver: the class that described it, as ``module:Class``
    :ivar title: what people call it, where that is not its name
    """

    uuid: str
    name: str
    driver: str
    title: str = ''

    def __str__(self) -> str:
        return provider.title(self.called, self.uuid)

    @property
    def called(self) -> str:
        """What people call it."""
        return self.title or self.name


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A node and all that is recorded of its providers."""

    node: Node
    record: Record

    def __post_init__(self) -> None:
        """Refuse to hand over nothing.

        :raises errors.ConfigError: nothing is recorded
        """
        if self.record == Record():
            raise errors.ConfigError(
                f'nothing is recorded of {self.node}: there is nothing to '
                'hand over'
            )

    @property
    def providers(self) -> list[str]:
        """The providers of which something is recorded, the node's first."""
        record = self.record
        every = {
            *record.created,
            *(u for u, _ in (*record.ours, *record.claims)),
        }
        return sorted(every, key=lambda uuid: (uuid != self.node.uuid, uuid))


def find(nodes: Sequence[Node], wanted: str) -> Node:
    """Return the node of this uuid or, if there is one only, of this name.

    :raises errors.ConfigError: there is none, or several have that name
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
        f'nothing is recorded of a node {wanted}; {_known(nodes, wanted)}'
    )


def data(handed: NodeRecord) -> dict[str, Any]:
    """Return the record as JSON has it, in an order that stays."""
    return {
        'format': handover_schema.FORMAT,
        'version': handover_schema.VERSION,
        'node': dataclasses.asdict(handed.node),
        'providers': [
            _provider(handed.record, uuid) for uuid in handed.providers
        ],
    }


def from_data(given: Any) -> NodeRecord:
    """Return the record that this is the data of, every name checked.

    :raises errors.ConfigError: it is none, or of a newer version
    """
    _check_version(given)
    validator = jsonschema.Draft202012Validator(handover_schema.SCHEMA)
    worst = jsonschema.exceptions.best_match(validator.iter_errors(given))
    if worst is not None:
        _, problem = yaml_problems.of_schema(worst)
        where = yaml_problems.place(worst.absolute_path)
        raise errors.ConfigError(where + problem)
    return _taken(given)


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
                source: sorted(some)
                for source, some in sorted(record.claims[key].items())
            }
            for kind, key in keys.items()
            if key in record.claims
        },
    }


def _known(nodes: Sequence[Node], wanted: str) -> str:
    every = sorted({node.called for node in nodes})
    if not every:
        return 'no node is known here: is [DEFAULT] state_path right?'
    close = difflib.get_close_matches(wanted, every, n=_FEW)
    few = close or every[:_FEW]
    more = len(every) - len(few)
    return f'known are {", ".join(few)}' + (f' and {more} more' * bool(more))


def _check_version(given: Any) -> None:
    """Refuse what is no record, and one that this agent is too old for."""
    if (
        not isinstance(given, dict)
        or given.get('format') != handover_schema.FORMAT
    ):
        raise errors.ConfigError(f'it is no record of a node; {WANTED}')
    version, mine = given.get('version'), handover_schema.VERSION
    if isinstance(version, int) and version > mine:
        raise errors.ConfigError(
            f'it is of version {yaml_problems.shown(version)}, this agent reads version '
            f'{mine}: import it with an agent as new as the one that exported '
            'it'
        )


# --- reading ------------------------------------------------------------------


def _taken(given: Mapping[str, Any]) -> NodeRecord:
    """Return what data of the right shape says."""
    with _in_place('node'):
        node = Node(
            uuid=names.check_uuid(given['node']['uuid'], 'node'),
            name=names.check_provider_name(given['node']['name']),
            driver=given['node']['driver'],
            title=given['node']['title'],
        )
    parts: dict[str, Record] = {}
    for number, one in enumerate(given['providers']):
        with _in_place('providers', number):
            uuid = names.check_uuid(one['uuid'], 'provider')
            if uuid in parts:
                raise errors.InvalidName(f'provider {uuid} is there twice')
            parts[uuid] = _part(uuid, one)
    every = parts.values()
    return NodeRecord(
        node=node,
        record=Record(
            created=frozenset().union(*(part.created for part in every)),
            ours={k: v for part in every for k, v in part.ours.items()},
            claims={k: v for part in every for k, v in part.claims.items()},
        ),
    )


def _part(uuid: str, one: Mapping[str, Any]) -> Record:
    """Return what is said of one provider; an empty list says nothing."""
    kinds = {kind.value: kind for kind in assertion.Kind}
    return Record(
        created=frozenset({uuid} if one['created'] else ()),
        ours={
            (uuid, kinds[kind]): _CHECKS[kinds[kind]](some)
            for kind, some in one['ours'].items()
            if some
        },
        claims={
            (uuid, kinds[kind]): {
                source: _CHECKS[kinds[kind]](some)
                for source, some in by_source.items()
            }
            for kind, by_source in one['held'].items()
            if by_source
        },
    )


def _check_classes(some: Iterable[str]) -> frozenset[str]:
    return frozenset(names.check_symbol(n, 'resource class') for n in some)


@contextlib.contextmanager
def _in_place(*path: yaml_problems.Step) -> Iterator[None]:
    """Say where in the data a name stands that placement would refuse.

    :raises errors.ConfigError: in place of ``InvalidName``
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
