# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a node's record.

Data only. ``node_record.py`` checks names and uuids by placement's rules. Each
description completes "write ..." in an error message.
"""

from collections.abc import Mapping
from typing import Any

from ...tree import assertion, names

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
