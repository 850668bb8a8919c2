# SPDX-License-Identifier: Apache-2.0
"""The facts of a host as expressions take them: name → value.

Pure: no I/O, configuration, logging or clock. A fact that the host does not
have is null; one that is unknown is left out, so an expression that needs it
is unknown. The values of a device are made once, however many rules go
through it. ``evaluate.py`` calls this.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence

from ..facts.fact import Device, Fact, Facts
from .language.expression import Partly, Plain, plain
from .rule import DEVICE, NAME, NODE
from .vocabulary import Vocabulary


class Values:
    """The values of one host.

    :param node: the name of the node's root provider
    """

    def __init__(self, facts: Facts, words: Vocabulary, node: str) -> None:
        self._facts = facts
        self._words = words
        self._devices: dict[tuple[str, str], dict[str, Plain]] = {}
        self._prefixed: dict[tuple[str, str], dict[str, Plain]] = {}
        self._host = {**self._of_host(), **self._of_families(), NODE: node}

    def of(self, device: Device | None) -> Mapping[str, Plain]:
        """Return the values for a rule, with those of its device if any."""
        if device is None:
            return self._host
        key = device.family, device.name
        if key not in self._prefixed:
            self._prefixed[key] = {
                f'{DEVICE}.{name}': value
                for name, value in self._of_device(device).items()
            }
        return collections.ChainMap(self._prefixed[key], self._host)

    def _of_host(self) -> dict[str, Plain]:
        lacking = (n for n in self._words.facts if self._facts.get(n) is None)
        return dict.fromkeys(lacking) | _known(self._facts.facts.items())

    def _of_families(self) -> dict[str, Plain]:
        found: dict[str, Plain] = {}
        for family in self._words.attributes.keys() | self._facts.devices:
            devices = self._facts.devices.get(family, ())
            if not isinstance(devices, Fact):
                found[family] = self._list(devices)
        return found

    def _list(self, devices: Sequence[Device]) -> list[Plain]:
        listed = [self._of_device(device) for device in devices]
        return listed if all(map(_is_known, devices)) else Partly(listed)

    def _of_device(self, device: Device) -> dict[str, Plain]:
        """Return attribute → value; one that the device lacks is null."""
        key = device.family, device.name
        if key not in self._devices:
            known = self._words.attributes.get(device.family, ())
            lacking = (name for name in known if name not in device.facts)
            self._devices[key] = {
                NAME: device.name,
                **dict.fromkeys(lacking),
                **_known(device.facts.items()),
            }
        return self._devices[key]


def _known(facts: Iterable[tuple[str, Fact]]) -> dict[str, Plain]:
    return {n: plain(fact.value) for n, fact in facts if not fact.unknown}


def _is_known(device: Device) -> bool:
    return not any(fact.unknown for fact in device.facts.values())
