# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a rule file.

Data only. Each description completes "write ..." in an error. ``parse.py``
checks what a schema cannot express.
"""

from typing import Any

from compute_agent.tree import inventory

from ..rule import FAMILIES

RULE_NAME = '[a-z0-9]+(-[a-z0-9]+)*'
CLASS = '[A-Z0-9_]{1,255}'

_AMOUNT: dict[str, Any] = {
    'description': 'a whole number, or an expression that gives one',
    'type': ['integer', 'string'],
}
_RECORD: dict[str, Any] = {
    'description': 'an amount, or a mapping of inventory fields, total among '
    'them',
    'type': ['integer', 'string', 'object'],
    'properties': {
        field: {'type': 'number', 'description': 'a number'}
        if field == 'allocation_ratio'
        else _AMOUNT
        for field in sorted(inventory.FIELDS)
    },
    'required': ['total'],
    'additionalProperties': False,
}
_TRAIT: dict[str, Any] = {
    'description': 'a standard trait, or CUSTOM_ and a name, where '
    '{expression} stands for a value; or a mapping of one trait to its '
    'condition',
    'type': ['string', 'object'],
    'minLength': 1,
    'minProperties': 1,
    'maxProperties': 1,
    'additionalProperties': {
        'description': 'a condition in CEL, in quotes',
        'type': 'string',
        'minLength': 1,
    },
}
_NAMES: dict[str, Any] = {
    'description': 'a list of names of rules',
    'type': 'array',
    'items': {'type': 'string', 'description': 'the name of a rule'},
}

RULE: dict[str, Any] = {
    'description': 'a rule: a mapping with name, and traits or a child',
    'type': 'object',
    'properties': {
        'name': {
            'description': 'a name of a-z, 0-9 and single dashes, at most 63 '
            'characters',
            'type': 'string',
            'pattern': rf'^{RULE_NAME}\Z',
            'maxLength': 63,
        },
        'description': {'description': 'a text', 'type': 'string'},
        'enabled': {'description': 'true or false', 'type': 'boolean'},
        'when': {
            'description': 'a condition in CEL, in quotes',
            'type': 'string',
            'minLength': 1,
        },
        'for_each': {
            'description': f'a family of devices: {", ".join(FAMILIES)}',
            'enum': list(FAMILIES),
        },
        'child': {
            'description': 'the name of the child provider, with {node} in it',
            'type': 'string',
            'minLength': 1,
        },
        'traits': {
            'description': 'a list of traits',
            'type': 'array',
            'items': _TRAIT,
        },
        'inventory': {
            'description': 'a mapping of resource class to amount',
            'type': 'object',
            'propertyNames': {
                'description': 'a resource class of A-Z, 0-9 and _',
                'pattern': rf'^{CLASS}\Z',
            },
            'additionalProperties': _RECORD,
        },
    },
    'required': ['name'],
    'additionalProperties': False,
}

SCHEMA: dict[str, Any] = {
    '$schema': 'https://json-schema.org/draft/2020-12/schema',
    'description': 'a mapping with rules:, enabled: or disabled:',
    'type': 'object',
    'properties': {
        'rules': {
            'description': 'a list of rules',
            'type': 'array',
            'items': RULE,
        },
        'enabled': _NAMES,
        'disabled': _NAMES,
    },
    'additionalProperties': False,
}
