# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of an operator's provider-config file.

Data only: nova's schema 1.0, so every file that nova-compute accepts fits. Keys
that nova's schema allows are allowed here; ``parse.py`` warns of them, and
checks the rules that a schema cannot express. Each description completes
"write ..." in an error.
"""

from typing import Any

from ..tree import inventory

COMPUTE_NODE = '$COMPUTE_NODE'
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
