# SPDX-License-Identifier: Apache-2.0
"""The configurations of nova.conf that are compared, from ``cases/*.yaml``.

A case has ``conf``, a part of nova.conf, and may have ``files`` beside it, and
``nova``: ``nothing`` if nova-compute reports no provider for it, and
``driver``: ``refuses`` if the driver reports none, and says why. ``changes``
is what the driver reports otherwise than for the case ``default``, on a host
with two processors or more, by provider: ``adds`` and ``removes`` are traits,
``inventory`` has the fields that differ. Traits that begin with a word of
``any`` may be there or not, but for those in ``has`` and ``lacks``.

Words between @ are filled in: @FOLDER@ is the folder of the files, and @PCI1@,
@NAME1@, @VENDOR1@, @PRODUCT1@, @ID1@ (and with 2) are two PCI devices of this
host.
"""

import contextlib
import dataclasses
import pathlib
import re
import typing
from collections.abc import Iterator, Mapping

import local_libvirt
import yaml
from defusedxml import ElementTree

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / 'cases'
DEFAULT = 'default'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One configuration.

    :ivar words: the words between @ and their values
    """

    name: str
    data: Mapping[str, typing.Any]
    words: Mapping[str, str]

    @property
    def reports_nothing(self) -> bool:
        """True if nova-compute reports no provider."""
        return self.data.get('nova') == 'nothing'

    @property
    def refuses(self) -> bool:
        """True if the driver refuses the configuration."""
        return self.data.get('driver') == 'refuses'

    @property
    def changes(self) -> Mapping[str, typing.Any]:
        """What is otherwise than in the default case, with words filled in."""
        text = yaml.safe_dump(self.data.get('changes') or {})
        changes: Mapping[str, typing.Any] = yaml.safe_load(self._filled(text))
        return changes

    def write(self, path: pathlib.Path) -> None:
        """Write the part of nova.conf, and the files beside it."""
        path.write_text(self._filled(self.data.get('conf') or ''))
        for name, text in (self.data.get('files') or {}).items():
            file = pathlib.Path(self.words['FOLDER'], name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._filled(text))

    def _filled(self, text: str) -> str:
        return re.sub('@([A-Z0-9]+)@', lambda m: self.words[m[1]], text)


def load(name: str, words: Mapping[str, str]) -> Case:
    """Return the case of this name."""
    text = (FOLDER / f'{name}.yaml').read_text()
    return Case(name=name, data=yaml.safe_load(text) or {}, words=words)


def names() -> list[str]:
    """Return the names of all cases, sorted."""
    return sorted(path.stem for path in FOLDER.glob('*.yaml'))


def words(uri: str, folder: pathlib.Path) -> dict[str, str]:
    """Return the words of this host: its last two plain PCI devices."""
    found = {'FOLDER': str(folder)}
    for number, one in enumerate(reversed(list(_pci_devices(uri))), 1):
        found |= {f'{word}{number}': value for word, value in one.items()}
    return found


def _pci_devices(uri: str) -> Iterator[dict[str, str]]:
    libvirt = local_libvirt.binding()
    with contextlib.closing(libvirt.open(uri)) as connection:
        kind = libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV
        texts = {
            d.name(): d.XMLDesc() for d in connection.listAllDevices(kind)
        }
    for _, text in sorted(texts.items()):
        pci = ElementTree.fromstring(text).find("capability[@type='pci']")
        if pci.find('capability') is not None:
            continue  # a bridge, or a card that could have virtual functions
        numbers = [
            int(pci.findtext(key))
            for key in ('domain', 'bus', 'slot', 'function')
        ]
        vendor, product = (
            pci.find(key).get('id').removeprefix('0x')
            for key in ('vendor', 'product')
        )
        yield {
            'PCI': '{:04x}:{:02x}:{:02x}.{:x}'.format(*numbers),
            'NAME': '{:04X}:{:02X}:{:02X}.{:X}'.format(*numbers),
            'VENDOR': vendor,
            'PRODUCT': product,
            'ID': f'{vendor}_{product}'.upper(),
        }
