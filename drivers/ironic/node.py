# SPDX-License-Identifier: Apache-2.0
"""One bare-metal node as a value: the part of Ironic's row that matters.

Pure: no I/O, configuration, logging or clock. ``FIELDS`` is what is asked for
and no more, for a listing is paid for by the field. A row that lacks one of
them, or has something else in it, is malformed and never half believed.
"""

import dataclasses
import typing
import uuid as uuidlib
from collections.abc import Mapping

from compute_agent import errors, provider

Row = Mapping[str, object]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node as Ironic lists it.

    :ivar uuid: lower case with dashes, however Ironic spells it
    :ivar resource_class: as the operator spells it; None or empty for none
    :ivar power_state: None while Ironic does not know it
    :ivar provision_state: None stands for available, in very old rows
    """

    uuid: str
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
        return self.name or self.uuid

    @classmethod
    def from_row(cls, row: Row) -> typing.Self:
        """Return the node of one row of Ironic's API.

        :raises errors.UnknownState: a field is missing or of another type
        """
        try:
            uuid = canonical(row['uuid'])
        except (KeyError, ValueError) as exc:
            raise errors.UnknownState(
                f'a node with uuid {row.get("uuid")!r:.60}, which is none'
            ) from exc
        return cls(
            uuid=uuid,
            name=_text(row, 'name'),
            resource_class=_text(row, 'resource_class'),
            traits=_traits(row),
            power_state=_text(row, 'power_state'),
            provision_state=_text(row, 'provision_state'),
            maintenance=_flag(row, 'maintenance'),
            instance_uuid=_text(row, 'instance_uuid'),
        )


FIELDS = tuple(field.name for field in dataclasses.fields(Node))


def canonical(uuid: object) -> str:
    """Return a node's uuid as placement spells it.

    Ironic keeps what it was given when the node was enrolled: capitals, as
    firmware prints them, or no dashes.

    :raises ValueError: it is none
    """
    if not isinstance(uuid, str):
        raise ValueError(f'{uuid!r:.60} is no uuid')  # noqa: TRY004 (of data)
    text = str(uuidlib.UUID(uuid))
    if uuid.lower() not in {text, text.replace('-', '')}:
        raise ValueError(f'{uuid!r:.60} is an unusual uuid')
    return text


def spellings(uuid: str) -> tuple[str, ...]:
    """Return the ways in which Ironic may spell this uuid, usual ones first.

    Some databases tell capitals from small letters, so a node is not found by
    another spelling than the one it was enrolled with.
    """
    bare = uuid.replace('-', '')
    return tuple(dict.fromkeys((uuid, uuid.upper(), bare, bare.upper())))


def _value(row: Row, field: str) -> object:
    if field not in row:
        raise errors.UnknownState(f'node {row["uuid"]} without {field}')
    return row[field]


def _odd(row: Row, field: str) -> errors.UnknownState:
    value = row[field]
    return errors.UnknownState(
        f'node {row["uuid"]} with {field} {value!r:.60}, which is none'
    )


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
