# SPDX-License-Identifier: Apache-2.0
"""The questions to a program and its answers: their JSON schemas and values.

Pure: no I/O, configuration, logging or clock. ``PROTOCOL`` is the published
schema of version 1 (``docs/exec-protocol.json`` has a copy that a test
compares). An answer that is JSON is read again as YAML, of which JSON is a part,
so that a message has the line of a mistake.
"""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from compute_agent import error_text, errors, yaml_file
from compute_agent.tree import names, provider_tree

from ..tree_file import tree_file

VERSION = 1
# YAML reads a number with an exponent, and half of a character, differently.
_ONLY_JSON = re.compile(r'\d[eE][-+\d]|\\u[dD][89a-fA-F]')

_TEXT: dict[str, Any] = {'type': 'string'}
_TRAITS = tree_file.SCHEMA['properties']['authority']
_VERSION = {'const': VERSION, 'description': f'the number {VERSION}'}
_LINES = {
    'description': 'a list of lines for the operator',
    'type': 'array',
    'items': {**_TEXT, 'description': 'a line as text'},
}


def _object(
    description: str, properties: Mapping[str, Any], *required: str
) -> dict[str, Any]:
    return {
        'description': description,
        'type': 'object',
        'properties': {'version': _VERSION, **properties},
        'required': ['version', *required],
        'additionalProperties': False,
    }


def _described() -> dict[str, Any]:
    """Return the schema of a description: a tree file of one node."""
    parts = dict(tree_file.SCHEMA['properties'])
    del parts['authority'], parts['node_filter']
    one = {
        **parts['nodes'],
        'description': 'a list with the one node of the question',
        'minItems': 1,
        'maxItems': 1,
    }
    return _object(
        f'an object with version: {VERSION}, and nodes: with the node',
        {
            **parts,
            'nodes': one,
            'notes': _LINES,
            'faults': _LINES,
            'reshape_needed': {
                'type': 'boolean',
                'description': 'true or false',
            },
            'allocations': {
                'type': 'object',
                'description': 'the allocations of the question, as they are '
                'to become',
            },
        },
    )


_LISTED = _object(
    f'an object with version: {VERSION}, and a list nodes:',
    {
        'nodes': {
            'description': 'a list of nodes, [] for none',
            'type': 'array',
            'items': {
                'description': 'a node: an object with a name',
                'type': 'object',
                'properties': {
                    'name': {**_TEXT, 'description': 'its name as text'},
                    'uuid': {**_TEXT, 'description': 'its uuid as text'},
                    'title': {**_TEXT, 'description': 'a title as text'},
                    'facts': {},
                },
                'required': ['name'],
                'additionalProperties': False,
            },
        },
    },
    'nodes',
)

#: Call → the schema of its answer.
SCHEMAS: Mapping[str, dict[str, Any]] = {
    'info': _object(
        f'an object with version: {VERSION}',
        {
            'authority': _TRAITS,
            'node_filter': tree_file.SCHEMA['properties']['node_filter'],
        },
    ),
    'list': _LISTED,
    'describe': {**_described(), '$defs': tree_file.SCHEMA['$defs']},
    'exists': _object(
        f'an object with version: {VERSION}, and exists:',
        {
            'exists': {
                'description': 'yes, no or unknown',
                'enum': ['yes', 'no', 'unknown'],
            }
        },
        'exists',
    ),
}

_NODE = {
    'type': 'object',
    'properties': {'name': _TEXT, 'uuid': {'type': ['string', 'null']}},
}
_PROVIDER = {
    'type': 'object',
    'properties': {
        'name': _TEXT,
        'uuid': _TEXT,
        'parent': {'type': ['string', 'null']},
        'inventories': {'type': 'object'},
        'traits': {'type': 'array', 'items': _TEXT},
        'aggregates': {'type': 'array', 'items': _TEXT},
    },
}
# Call → when it is made, and the parts of its question.
_QUESTIONS: Mapping[str, tuple[str, dict[str, Any]]] = {
    'info': ('asked when the agent starts and at SIGHUP', {}),
    'list': ('asked in each cycle', {}),
    'describe': (
        'asked about each node',
        {
            'node': _NODE,
            'tree': {'type': 'array', 'items': _PROVIDER},
            'allocations': {'type': ['object', 'null']},
        },
    ),
    'exists': ('asked about a node that left the list', {'node': _NODE}),
}

PROTOCOL: dict[str, Any] = {
    '$schema': 'https://json-schema.org/draft/2020-12/schema',
    'title': f'Programs of the driver exec, version {VERSION}',
    '$defs': {
        **tree_file.SCHEMA['$defs'],
        **{
            f'{call}_question': _object(
                when, {'call': {'const': call}, **parts}, 'call', *parts
            )
            for call, (when, parts) in _QUESTIONS.items()
        },
        **{
            f'{call}_answer': {k: v for k, v in one.items() if k != '$defs'}
            for call, one in SCHEMAS.items()
        },
    },
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """The answer to ``info``."""

    authority: tuple[str, ...] = ()
    node_filter: Mapping[str, str] | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node in the answer to ``list``.

    :ivar uuid: the uuid of its provider; None if the program gives no uuid
    :ivar facts: what its description depends on; None to be asked each time
    """

    name: str
    uuid: str | None = None
    title: str = ''
    facts: object = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The answer to ``describe``.

    :ivar file: the node and the pools; None if the program needs allocations
    :ivar allocations: the new allocations, by consumer; None if the program
        moves none
    """

    file: tree_file.TreeFile | None
    notes: Sequence[str] = ()
    faults: Sequence[str] = ()
    allocations: Mapping[str, Any] | None = None


def question(call: str, **parts: object) -> str:
    """Return the text of a question."""
    return json.dumps({'version': VERSION, 'call': call, **parts}) + '\n'


def providers(tree: provider_tree.ProviderTree) -> list[dict[str, Any]]:
    """Return the providers of a tree as a question has them."""
    found = (tree.data(uuid) for uuid in tree.get_provider_uuids())
    return [
        {
            'name': one.name,
            'uuid': one.uuid,
            'parent': one.parent_uuid,
            'inventories': dict(one.inventory),
            'traits': sorted(one.traits),
            'aggregates': sorted(one.aggregates),
        }
        for one in found
    ]


def read_info(text: str, place: str) -> Info:
    """Return the answer to ``info``.

    :raises yaml_file.FileError: the answer is wrong
    """
    document = _document(text, place, 'info')
    found = tuple(document.data.get('authority', ()))
    for at, name in enumerate(found):
        try:
            names.check_symbol(name.removesuffix('*'), 'trait')
        except errors.InvalidName as exc:
            raise document.error(str(exc), 'authority', at) from exc
    return Info(authority=found, node_filter=document.data.get('node_filter'))


def read_list(text: str, place: str) -> dict[str, Node]:
    """Return the answer to ``list``: name → node.

    :raises yaml_file.FileError: the answer is wrong, or has a node twice
    """
    document = _document(text, place, 'list')
    found: dict[str, Node] = {}
    for at, data in enumerate(document.data['nodes']):
        name = data['name']
        if name in found:
            raise document.error(
                f'node {name!r} is in the list twice; print each node once',
                *('nodes', at),
            )
        found[name] = Node(**data)
    return found


def read_existence(text: str, place: str) -> str:
    """Return the answer to ``exists``: yes, no or unknown.

    :raises yaml_file.FileError: the answer is wrong
    """
    document = _document(text, place, 'exists')
    return str(document.data['exists'])


def read_description(text: str, place: str, nodename: str) -> Description:
    """Return the answer to ``describe`` of a node.

    :raises yaml_file.FileError: the answer is wrong, or describes another node
    """
    document = _document(text, place, 'describe')
    data = document.data
    if data.get('reshape_needed'):
        return Description(file=None)
    if 'nodes' not in data:
        raise document.error(
            'the key nodes is missing; add it with a list of the one node, or '
            'print reshape_needed: true'
        )
    file = tree_file.parse(document, is_careful=True)
    if nodename not in file.nodes:
        (other,) = file.nodes
        raise document.error(
            f'this describes {other!r} and not {nodename!r}; print the name '
            'of the question',
            *('nodes', 0, 'name'),
        )
    return Description(
        file=file,
        notes=data.get('notes', ()),
        faults=data.get('faults', ()),
        allocations=data.get('allocations'),
    )


def _document(text: str, place: str, call: str) -> yaml_file.Document:
    """Return an answer that fits the schema of its call.

    :raises yaml_file.FileError: the answer is no JSON, or does not fit
    """
    try:
        data = json.loads(text)
    except RecursionError as exc:
        raise yaml_file.FileError(
            place, 0, 'its answer is nested too deeply; print it flatter'
        ) from exc
    except json.JSONDecodeError as exc:
        if exc.pos < len(text) - len(text.lstrip()) + 1 or exc.msg.startswith(
            'Extra'
        ):
            line = text.split('\n')[exc.lineno - 1].strip()
            problem = (
                f'{error_text.excerpt(line)} is not the answer; print only '
                'that on standard output, and other lines on standard error'
            )
        else:
            problem = f'not JSON: {exc.msg}, column {exc.colno}'
        raise yaml_file.FileError(place, exc.lineno, problem) from exc
    except ValueError as exc:  # of Python's limit of digits
        raise yaml_file.FileError(
            place, 0, 'a number in it has too many digits; print a smaller one'
        ) from exc
    if _ONLY_JSON.search(text):
        text = json.dumps(data, ensure_ascii=False)
    return yaml_file.parse(text, place, SCHEMAS[call])
