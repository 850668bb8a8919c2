# SPDX-License-Identifier: Apache-2.0
"""The flavor file of "allocation candidate" and "node stage": --flavor FILE.

It is YAML or JSON: resources and extra specs, or the output of ``openstack
flavor show -f yaml``. An error is one line, with the file and the line.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import os_resource_classes as orc

from report_client.candidates.values import flavor, query

from ... import errors, extra_specs, yaml_file
from ...tree import inventory

_AMOUNT = {
    'description': 'a whole number',
    'type': 'integer',
    'minimum': 0,
    'maximum': inventory.MAX_INT,
}
_VALUE = {
    'description': 'text or a number',
    'type': ['string', 'number', 'boolean'],
}
_SPECS = {
    'description': 'a mapping of extra specs, like trait:NAME: required',
    'type': 'object',
    'additionalProperties': _VALUE,
}
_EPHEMERAL = 'OS-FLV-EXT-DATA:ephemeral'
_SWAP = {
    'description': 'a whole number, of MB',
    'anyOf': [_AMOUNT, {'const': ''}],
}
# The other keys that "openstack flavor show" prints.
_IGNORED = (
    'OS-FLV-DISABLED:disabled',
    'access_project_ids',
    'description',
    'id',
    'name',
    'os-flavor-access:is_public',
    'rxtx_factor',
)
SCHEMA: dict[str, Any] = {
    'description': 'resources and extra_specs, each a mapping',
    'type': 'object',
    'properties': {
        'resources': {
            'description': 'a mapping of resource class to amount',
            'type': 'object',
            'additionalProperties': _AMOUNT,
        },
        'extra_specs': _SPECS,
        'properties': _SPECS,
        'group_policy': _VALUE,
        'vcpus': _AMOUNT,
        'ram': {**_AMOUNT, 'description': 'a whole number, of MB'},
        'disk': {**_AMOUNT, 'description': 'a whole number, of GB'},
        'ephemeral': {**_AMOUNT, 'description': 'a whole number, of GB'},
        _EPHEMERAL: {**_AMOUNT, 'description': 'a whole number, of GB'},
        'swap': _SWAP,
        **{key: {} for key in _IGNORED},
    },
    # Extra specs may also be keys at the top level.
    'patternProperties': {r'^[A-Za-z0-9_-]+:': _VALUE},
    'additionalProperties': False,
}
_HEADINGS = ('extra_specs', 'properties')
_KNOWN = frozenset(SCHEMA['properties'])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFile:
    """The contents of a flavor file.

    :ivar amounts: the amounts of the flavor's size, by resource class
    :ivar properties: the extra specs
    """

    amounts: Mapping[str, int]
    properties: Mapping[str, str]


def read(path: str) -> FlavorFile:
    """Return the contents of a flavor file, completely checked.

    :raises yaml_file.FileError: a mistake in the file, with its line
    """
    try:
        document = yaml_file.read(path, SCHEMA, named=True)
    except yaml_file.FileError as exc:
        if not isinstance(exc.__cause__, FileNotFoundError):
            raise
        raise yaml_file.FileError(
            path,
            1,
            'the file does not exist; "openstack flavor show NAME -f json > '
            'FILE" writes one',
        ) from exc
    return _flavor(document)


def parse(text: str, name: str) -> FlavorFile:
    """Return the flavor in a text, completely checked.

    :param name: of the text, for messages
    :raises yaml_file.FileError: a mistake in the text, with its line
    """
    return _flavor(yaml_file.parse(text, name, SCHEMA))


def _flavor(document: yaml_file.Document) -> FlavorFile:
    properties: dict[str, str] = {}
    for place, value in _properties(document.data):
        key = str(place[-1])
        try:
            flavor.groups(extra_specs.parse([(key, value)]))
        except errors.AgentError as exc:
            raise document.key_error(str(exc), *place) from exc
        if properties.setdefault(key, value) != value:
            raise document.key_error(
                f'{key} has two values: keep one of them', *place
            )
    return FlavorFile(amounts=_amounts(document), properties=properties)


def _properties(
    data: Mapping[str, Any],
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the place and the value of each extra spec."""
    for heading in _HEADINGS:
        for key, value in data.get(heading, {}).items():
            yield (heading, key), _text(value)
    for key, value in data.items():
        if key == flavor.GROUP_POLICY or key not in _KNOWN:
            yield (key,), _text(value)


def _amounts(document: yaml_file.Document) -> dict[str, int]:
    data = document.data
    disk = data.get('disk', 0) + math.ceil((data.get('swap') or 0) / 1024)
    disk += data.get('ephemeral', 0) or data.get(_EPHEMERAL, 0)
    found = {
        orc.VCPU: data.get('vcpus', 0),
        orc.MEMORY_MB: data.get('ram', 0),
        orc.DISK_GB: disk,
    }
    found = {rc: amount for rc, amount in found.items() if amount}
    for rc, amount in data.get('resources', {}).items():
        place = ('resources', rc)
        try:
            query.check_class(rc)
        except errors.AgentError as exc:
            raise document.key_error(str(exc), *place) from exc
        if found.setdefault(rc, amount) != amount:
            raise document.error(
                f'{rc}: {amount} here, but {found[rc]} in the size of the '
                'flavor: keep one of them',
                *place,
            )
    return found


def _text(value: object) -> str:
    """Return a value as the text after the "=" of an extra spec."""
    return str(value).lower() if isinstance(value, bool) else str(value)
