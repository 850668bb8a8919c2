# SPDX-License-Identifier: Apache-2.0
"""One bare-metal node as a value, and its traits and inventory in placement.

Pure: no I/O, configuration, logging or clock. The agent requests the fields in
``FIELDS`` only, because each field makes a listing slower. A row that lacks a
field, or has a value of another type, is refused as a whole.

The traits are the node's traits in Ironic and the capabilities of the bare-metal
driver. A trait that placement does not accept is left out; the others are
reported. The inventory is one unit of the node's resource class. It is reserved
if nova would consider it unavailable or used (nova.virt.ironic.driver,
``_node_resources_unavailable`` and ``_node_resources_used``). ``retired`` and
``fault`` are not read, because Ironic keeps such nodes out of ``available`` or in
maintenance.
"""

import dataclasses
import re
import typing
import uuid as uuidlib
from collections.abc import Mapping

from compute_agent import error_text, errors
from compute_agent.tree import inventory, names, provider

Row = Mapping[str, object]

# The texts that Ironic accepts as uuids; Python also accepts blanks and signs.
_UUID = re.compile(r'(?:urn:|uuid:|[{}-]|[0-9a-fA-F])+')


class NoUuid(errors.UnknownState):
    """A well-formed node whose uuid is not one that placement accepts."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node as Ironic lists it.

    :ivar uuid: lower case with dashes, as placement spells it
    :ivar ident: the uuid as Ironic spells it: with the spelling at enrollment
    :ivar resource_class: as the operator spells it; None or empty for none
    :ivar power_state: None while Ironic does not know it
    :ivar provision_state: None means available, in rows of very old releases
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
        """The name that operators use: the node's name, else its uuid."""
        return error_text.printable(self.name or self.ident)

    @classmethod
    def from_row(
        cls, row: Row, traits: frozenset[str] | None = None
    ) -> typing.Self:
        """Return the node of one row of Ironic's API.

        :param traits: the traits, if the row was read without them
        :raises NoUuid: the row is well-formed, but its uuid is invalid
        :raises errors.UnknownState: a field is missing or of another type
        """
        ident = row.get('uuid')
        if not isinstance(ident, str) or not ident:
            raise errors.UnknownState(
                f'a node with the invalid uuid {error_text.excerpt(ident)}'
            )
        fields: dict[str, typing.Any] = {
            **{field: _text(row, field) for field in _TEXTS},
            'traits': _traits(row) if traits is None else traits,
            'maintenance': _flag(row, 'maintenance'),
        }
        try:
            uuid = canonical(ident)
        except ValueError as exc:
            name = fields['name']
            called = f' (name {error_text.excerpt(name)})' if name else ''
            raise NoUuid(
                f'node {error_text.excerpt(ident)}{called} has an invalid uuid'
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
# The traits take most of a listing's time in Ironic.
WITHOUT_TRAITS = tuple(field for field in FIELDS if field != 'traits')


def canonical(uuid: object) -> str:
    """Return a node's uuid as placement spells it.

    Ironic keeps the spelling with which the node was enrolled: in upper case,
    as firmware prints it, without dashes, or with a prefix or braces.

    :raises ValueError: it is not a uuid
    """
    if not isinstance(uuid, str) or not _UUID.fullmatch(uuid):
        raise ValueError(f'{error_text.excerpt(uuid)} is not a uuid')
    return str(uuidlib.UUID(uuid))


def spellings(ident: str) -> tuple[str, ...]:
    """Return the spellings to look up in Ironic for a name or uuid.

    A uuid is looked up as given, and then in its usual spellings. Some
    databases distinguish upper and lower case, so a node is found only by the
    spelling with which it was enrolled.
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
        raise errors.UnknownState(f'node {_subject(row)} without {field}')
    return row[field]


def _odd(row: Row, field: str) -> errors.UnknownState:
    value = row[field]
    return errors.UnknownState(
        f'node {_subject(row)} with invalid {field} '
        f'{error_text.excerpt(value)}'
    )


def _subject(row: Row) -> str:
    return error_text.printable(f'{row["uuid"]:.60}')


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


# The capabilities of nova's Ironic driver (nova.virt.ironic.driver,
# ``capabilities``, by the names of nova.virt.driver, CAPABILITY_TRAITS_MAP).
# With them, flavors and images that require these traits find the node.
CAPABILITIES = (
    'COMPUTE_IMAGE_TYPE_AMI',
    'COMPUTE_IMAGE_TYPE_QCOW2',
    'COMPUTE_IMAGE_TYPE_RAW',
    'COMPUTE_NET_ATTACH_INTERFACE',
)

# It marks a disabled compute service and is not a property of a node.
NEVER = frozenset({names.COMPUTE_STATUS_DISABLED})

_OF_OTHERS = 'it marks a disabled compute service; use maintenance instead'
_NO_NAME = (
    f'placement accepts 1 to {names.MAX_NAME} of the characters A-Z, 0-9 and _'
)


def reported(node: Node) -> frozenset[str]:
    """Return the traits that are reported of this node."""
    return node.traits.union(CAPABILITIES).difference(left_out(node))


def left_out(node: Node) -> Mapping[str, str]:
    """Return the node's traits in Ironic that are not reported, and why."""
    return {
        trait: _OF_OTHERS if trait in NEVER else _NO_NAME
        for trait in sorted(node.traits)
        if trait in NEVER or not _is_name(trait)
    }


def _is_name(trait: str) -> bool:
    """Return True if placement accepts a trait of this name.

    Some releases of Ironic accept a custom trait that ends in a newline.
    """
    try:
        names.check_symbol(trait, 'trait')
    except errors.InvalidName:
        return False
    return True


# The states in which a node can get an instance. Rows of very old releases
# have None instead of "available".
_GOOD_PROVISION_STATES = ('available', None)
_ERROR = 'error'


def why_reserved(node: Node, *, skip_in_use: bool) -> str | None:
    """Return why the node is reserved, None if it is not.

    :param skip_in_use: do not reserve a node because of its instance, whose
        allocation is enough
    """
    if node.maintenance:
        return 'it is in maintenance'
    if node.power_state is None:
        return 'its power state is unknown'
    if node.power_state == _ERROR:
        return 'its power state is error'
    if node.provision_state not in _GOOD_PROVISION_STATES:
        return error_text.printable(
            f'its provision state is {node.provision_state}'
        )
    if node.instance_uuid is not None and not skip_in_use:
        return error_text.printable(f'it has instance {node.instance_uuid}')
    return None


def records(node: Node, *, skip_in_use: bool) -> dict[str, inventory.Record]:
    """Return the node's inventory: one unit of its resource class.

    :raises errors.InvalidName: the node has no class, or an invalid one
    """
    rc = names.custom_name(node.resource_class or '')
    reserved = why_reserved(node, skip_in_use=skip_in_use) is not None
    record = inventory.Inventory(total=1, reserved=int(reserved), max_unit=1)
    return {rc: record.to_record()}
