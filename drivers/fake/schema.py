# SPDX-License-Identifier: Apache-2.0
"""The shape of the fake driver's file, as a JSON schema.

Data only. It defines the keys and their types. ``tree_file.py`` checks
placement's rules for names and numbers, and uniqueness. Each description
completes "write ..." in an error message.
"""

from typing import Any

from compute_agent.tree import inventory

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
}

_BRANCH: dict[str, Any] = {
    'children': {
        'description': 'a list of providers',
        'type': 'array',
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
        'authority': {
            'description': 'a list of trait names, or prefixes that end in *',
            'type': 'array',
            'items': {**_TEXT, 'description': 'a trait name, or a prefix*'},
        },
    },
    'required': ['nodes'],
    'additionalProperties': False,
}
