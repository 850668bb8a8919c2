# SPDX-License-Identifier: Apache-2.0
"""The entries of ``[pci] device_spec``: which PCI devices guests may have.

Pure: no I/O, configuration, logging or clock. An entry is JSON: an object or a
list of objects. It selects devices by vendor, product and address; its other
keys are tags. An entry that nova refuses at its start is refused here, with a
line that says what to change.
"""

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import os_resource_classes
import os_traits
from oslo_utils import strutils

from compute_agent import error_text, errors
from compute_agent.tree import names as agent_names

from .node_devices import PciDevice

ANY = '*'
# The parts of an address: key in a mapping of patterns, largest value, digits.
_PARTS = (
    ('domain', 0xFFFF, 4),
    ('bus', 0xFF, 2),
    ('slot', 0x1F, 2),
    ('function', 0x7, 1),
)
_STRICT = ('managed', 'live_migratable', 'one_time_use')
_TEXTS = ('resource_class', 'traits', 'vendor_id', 'product_id', 'devname')
_HEX = re.compile(r'[0-9A-Fa-f]*')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A pattern of PCI addresses, part by part.

    :ivar single: True if each part is one number: then it also selects the
        VFs of the PF with this address
    """

    parts: tuple[re.Pattern[str], ...]
    single: bool = False

    def matches(self, address: str) -> bool:
        """Return True if the pattern has this address."""
        fields = re.split('[:.]', address)
        return all(
            part.match(field)
            for part, field in zip(self.parts, fields, strict=True)
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """One entry: the devices that it selects, and their tags.

    :ivar text: the entry as JSON, for messages
    :ivar resource_class: empty for the class made of the device's ids
    :ivar one_time_use: None if the entry does not have the key
    :ivar interface: selects by the name of a network interface, beside the
        other keys; empty if the entry does not have the key ``devname``
    """

    text: str
    vendor: str
    product: str
    address: Address
    resource_class: str = ''
    traits: frozenset[str] = frozenset()
    physical_network: str = ''
    remote_managed: bool = False
    live_migratable: bool = False
    one_time_use: bool | None = None
    interface: str = ''

    def selects(self, device: PciDevice, serial: str) -> bool:
        """Return True if the entry is for this device.

        :param serial: the serial number of the device's card
        """
        parent = device.phys_function
        return (
            self.vendor in (ANY, device.vendor)
            and self.product in (ANY, device.product)
            and (
                self.address.matches(device.address)
                or bool(
                    self.address.single
                    and parent
                    and self.address.matches(parent)
                )
            )
            and (bool(serial) or not self.remote_managed)
        )

    def class_of(self, device: PciDevice) -> str:
        """Return the resource class of a device of this entry."""
        made = f'CUSTOM_PCI_{device.vendor}_{device.product}'.upper()
        return self.resource_class or made


def parse(texts: Sequence[str], *, reported: bool) -> tuple[DeviceSpec, ...]:
    """Return the entries in order; the first that selects a device counts.

    :param reported: ``[pci] report_in_placement``
    :raises errors.ConfigError: an entry is wrong
    """
    return tuple(
        _spec(entry, reported=reported)
        for text in texts
        for entry in _entries(text)
    )


def _entries(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        found = json.loads(text)
    except ValueError as exc:
        raise _wrong(text, f'this is not JSON ({exc})') from exc
    for entry in found if isinstance(found, list) else [found]:
        if not isinstance(entry, dict):
            raise _wrong(text, 'write a JSON object, or a list of objects')
        yield entry


def _wrong(entry: object, why: str) -> errors.ConfigError:
    text = entry if isinstance(entry, str) else json.dumps(entry)
    return errors.ConfigError(
        f'[pci] device_spec = {error_text.excerpt(text)}: {why}'
    )


def _spec(entry: Mapping[str, Any], *, reported: bool) -> DeviceSpec:
    _check(entry, reported=reported)
    strict = {tag: _truth(entry, tag) for tag in _STRICT}
    if strict['one_time_use'] and not reported:
        raise _wrong(
            entry, 'one_time_use needs [pci] report_in_placement = true'
        )
    return DeviceSpec(
        text=json.dumps(entry),
        vendor=_identifier(entry, 'vendor_id'),
        product=_identifier(entry, 'product_id'),
        address=_address(entry),
        resource_class=_resource_class(entry),
        traits=frozenset(_traits(entry)),
        physical_network=str(entry.get('physical_network') or ''),
        remote_managed=strutils.bool_from_string(entry.get('remote_managed')),
        live_migratable=bool(strict['live_migratable']),
        one_time_use=strict['one_time_use'],
        interface=entry.get('devname') or '',
    )


def _check(entry: Mapping[str, Any], *, reported: bool) -> None:
    for key in _TEXTS:
        if not isinstance(entry.get(key, ''), str):
            raise _wrong(entry, f'{key} must be a text in quotes')
    if not entry.get('devname'):
        return
    if entry.get('address'):
        raise _wrong(entry, 'give devname or address, not both')
    if reported:
        raise _wrong(
            entry,
            'devname is not possible with [pci] report_in_placement; give '
            'the address of the device instead',
        )


def _truth(entry: Mapping[str, Any], tag: str) -> bool | None:
    if entry.get(tag) is None:
        return None
    try:
        return bool(strutils.bool_from_string(entry[tag], strict=True))
    except ValueError as exc:
        raise _wrong(entry, f'{tag} must be "true" or "false"') from exc


def _identifier(entry: Mapping[str, Any], key: str) -> str:
    text = entry.get(key, ANY).strip()
    return ANY if text == ANY else _number(entry, key, text, 0xFFFF, 4)


def _number(
    entry: Mapping[str, Any], key: str, text: str, most: int, digits: int
) -> str:
    """Return a hexadecimal number with the digits that libvirt writes."""
    try:
        value = int(text, 16)
    except ValueError:
        value = -1
    if not 0 <= value <= most:
        raise _wrong(
            entry, f'{key} {text!r} is no hexadecimal number up to {most:X}'
        )
    return f'{value:0{digits}x}'


# --- addresses ----------------------------------------------------------------


def _address(entry: Mapping[str, Any]) -> Address:
    address = entry.get('address') or '*:*:*.*'
    if isinstance(address, str):
        return _of_text(entry, address)
    if isinstance(address, dict):
        return _of_patterns(entry, address)
    raise _wrong(entry, 'address must be a text or an object of patterns')


def _of_text(entry: Mapping[str, Any], text: str) -> Address:
    """Return the pattern of ``domain:bus:slot.function``.

    ``*`` or an empty part stands for every number; the domain and the bus may
    be left out.
    """
    rest, _, function = text.partition('.')
    fields = rest.split(':') if rest else []
    if len(fields) > 3:
        raise _wrong(
            entry, f'address {text!r} has more parts than 0000:81:00.0'
        )
    fields = [ANY] * (3 - len(fields)) + fields + [function]
    written = [
        ANY
        if field.strip() in ('', ANY)
        else _number(entry, f'the {key} in address', field.strip(), *limits)
        for (key, *limits), field in zip(_PARTS, fields, strict=True)
    ]
    return Address(
        parts=tuple(
            re.compile('' if field == ANY else f'{field}$')
            for field in written
        ),
        single=ANY not in written,
    )


def _of_patterns(
    entry: Mapping[str, Any], patterns: Mapping[str, Any]
) -> Address:
    """Return the pattern of regular expressions, one for each part."""
    texts = [patterns.get(key, '.*') for key, *_ in _PARTS]
    try:
        parts = tuple(re.compile(text) for text in texts)
    except (re.error, TypeError) as exc:
        raise _wrong(
            entry, f'an address pattern is no regular expression ({exc})'
        ) from exc
    return Address(
        parts=parts, single=all(_HEX.fullmatch(text) for text in texts)
    )


# --- names --------------------------------------------------------------------


def _resource_class(entry: Mapping[str, Any]) -> str:
    text = entry.get('resource_class', '').upper()
    if not text or text in os_resource_classes.STANDARDS:
        return str(text)
    return _custom(entry, 'resource_class', text)


def _traits(entry: Mapping[str, Any]) -> Iterator[str]:
    standard = set(os_traits.get_traits())
    text = entry.get('traits', '')
    for trait in text.split(',') if text else ():
        if trait in standard:
            yield trait
        else:
            yield _custom(entry, 'traits', trait.upper())


def _custom(entry: Mapping[str, Any], key: str, text: str) -> str:
    """Return nova's form of the name: ``CUSTOM_`` before it if it lacks that."""
    try:
        if text.startswith(agent_names.CUSTOM_PREFIX):
            return agent_names.check_symbol(text, key)
        return agent_names.custom_name(text)
    except errors.InvalidName as exc:
        raise _wrong(entry, f'{key}: {exc}') from exc
