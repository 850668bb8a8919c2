# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a rule file.

Data only. Each description completes "write ..." in an error. ``parse.py``
checks what a schema cannot express.
"""

from typing import Any

from compute_agent.tree import inventory

from .language import lexing
from .rule import FAMILIES

RULE_NAME = '[a-z0-9]+(-[a-z0-9]+)*'
CLASS = '[A-Z0-9_]{1,255}'
_LONGEST = lexing.MAX_LENGTH
_AT_MOST = f'of at most {_LONGEST} characters'

_AMOUNT: dict[str, Any] = {
    'description': 'a whole number, or an expression that gives one, '
    f'{_AT_MOST}',
    'type': ['integer', 'string'],
    'maxLength': _LONGEST,
}
_RECORD: dict[str, Any] = {
    'description': f'an amount {_AT_MOST}, or a mapping of inventory fields, '
    'total among them',
    'type': ['integer', 'string', 'object'],
    'maxLength': _LONGEST,
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
    f'condition; each {_AT_MOST}',
    'type': ['string', 'object'],
    'minLength': 1,
    'maxLength': _LONGEST,
    'propertyNames': {
        'description': f'a trait {_AT_MOST}',
        'maxLength': _LONGEST,
    },
    'minProperties': 1,
    'maxProperties': 1,
    'additionalProperties': {
        'description': f'a condition in CEL, in quotes, {_AT_MOST}',
        'type': 'string',
        'minLength': 1,
        'maxLength': _LONGEST,
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
            'description': f'a condition in CEL, in quotes, {_AT_MOST}',
            'type': 'string',
            'minLength': 1,
            'maxLength': _LONGEST,
        },
        'for_each': {
            'description': f'a family of devices: {", ".join(FAMILIES)}',
            'enum': list(FAMILIES),
        },
        'child': {
            'description': 'the name of the child provider, with {node} in '
            f'it, {_AT_MOST}',
            'type': 'string',
            'minLength': 1,
            'maxLength': _LONGEST,
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
