# SPDX-License-Identifier: Apache-2.0
"""One bare-metal node as a value: the part of Ironic's row that matters.

Pure: no I/O, configuration, logging or clock. ``FIELDS`` is what is asked for
and no more, for a listing is paid for by the field. A row that lacks one of
them, or has something else in it, is malformed and never half believed.
"""

import dataclasses
import re
import typing
import uuid as uuidlib
from collections.abc import Mapping

from compute_agent import error_text, errors
from compute_agent.tree import provider

from . import plain

Row = Mapping[str, object]

# What Ironic takes for a uuid; Python also takes blanks, signs and the like.
_UUID = re.compile(r'(?:urn:|uuid:|[{}-]|[0-9a-fA-F])+')


class NoUuid(errors.UnknownState):
    """A node that is whole, but has no uuid that placement could take."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node as Ironic lists it.

    :ivar uuid: lower case with dashes, as placement spells it
    :ivar ident: the same as Ironic spells it: how it was enrolled
    :ivar resource_class: as the operator spells it; None or empty for none
    :ivar power_state: None while Ironic does not know it
    :ivar provision_state: None stands for available, in very old rows
    """

    uuid: str
    ident: str
    name: str | None
    resource_class: str | None
    traits: frozenset[str]
    power_state: str | None
    provision_state: str | None
    maintenance: bool
    instance_uuid: str | None

    def __str__(self) -> str:
        return provider.title(self.called, self.uuid)

    @property
    def called(self) -> str:
        """What operators call it: its name, if it has one."""
        return plain.shown(self.name or self.ident)

    @classmethod
    def from_row(cls, row: Row) -> typing.Self:
        """Return the node of one row of Ironic's API.

        :raises NoUuid: all is well, but its uuid is none
        :raises errors.UnknownState: a field is missing or of another type
        """
        ident = row.get('uuid')
        if not isinstance(ident, str) or not ident:
            raise errors.UnknownState(
                f'a node with uuid {error_text.excerpt(ident)}, which is none'
            )
        fields: dict[str, typing.Any] = {
            **{field: _text(row, field) for field in _TEXTS},
            'traits': _traits(row),
            'maintenance': _flag(row, 'maintenance'),
        }
        try:
            uuid = canonical(ident)
        except ValueError as exc:
            name = fields['name']
            called = f' (name {error_text.excerpt(name)})' if name else ''
            raise NoUuid(
                f'node {error_text.excerpt(ident)}{called} has a uuid that is none'
            ) from exc
        return cls(uuid=uuid, ident=ident, **fields)


_TEXTS = (
    'name',
    'resource_class',
    'power_state',
    'provision_state',
    'instance_uuid',
)
FIELDS = tuple(f.name for f in dataclasses.fields(Node) if f.name != 'ident')


def canonical(uuid: object) -> str:
    """Return a node's uuid as placement spells it.

    Ironic keeps what it was given when the node was enrolled: capitals, as
    firmware prints them, no dashes, or more around it.

    :raises ValueError: it is none
    """
    if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
        raise ValueError(f'{error_text.excerpt(uuid)} is no uuid')
    return str(uuidlib.UUID(uuid))


def spellings(ident: str) -> tuple[str, ...]:
    """Return what to ask Ironic for when somebody says this name or uuid.

    A uuid is asked for as it was said, and then in the usual ways: some
    databases tell capitals from small letters, so a node is not found by
    another spelling than the one it was enrolled with.
    """
    try:
        uuid = canonical(ident)
    except ValueError:
        return (ident,)
    bare = uuid.replace('-', '')
    return tuple(
        dict.fromkeys((ident, uuid, uuid.upper(), bare, bare.upper()))
    )


def _value(row: Row, field: str) -> object:
    if field not in row:
        raise errors.UnknownState(f'node {_who(row)} without {field}')
    return row[field]


def _odd(row: Row, field: str) -> errors.UnknownState:
    value = row[field]
    return errors.UnknownState(
        f'node {_who(row)} with {field} {error_text.excerpt(value)}, which is none'
    )


def _who(row: Row) -> str:
    return plain.shown(f'{row["uuid"]:.60}')


def _text(row: Row, field: str) -> str | None:
    value = _value(row, field)
    if value is not None and not isinstance(value, str):
        raise _odd(row, field)
    return value


def _flag(row: Row, field: str) -> bool:
    value = _value(row, field)
    if not isinstance(value, bool):
        raise _odd(row, field)
    return value


def _traits(row: Row) -> frozenset[str]:
    value = _value(row, 'traits')
    if not isinstance(value, list) or not all(
        isinstance(trait, str) for trait in value
    ):
        raise _odd(row, 'traits')
    return frozenset(value)
