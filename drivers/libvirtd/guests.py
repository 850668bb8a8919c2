# SPDX-License-Identifier: Apache-2.0
"""The host's resources that each guest has, from libvirt's XML of the guest.

Pure: no I/O, configuration, logging or clock. libvirt is the only witness of
this beside nova's database. A guest that cannot be read is unknown, and so are
its devices. The libvirt driver's ``reading/`` calls this.
"""

import dataclasses
from collections.abc import Iterator, Mapping

from compute_agent import errors

from . import cpusets, hypervisor, xml

SEV = 'sev'
SEV_ES = 'sev-es'
SEV_SNP = 'sev-snp'
TDX = 'tdx'

# nova's element, of every release of its namespace.
_POLICY = (
    'metadata/{*}instance/{*}flavor/{*}extraSpecs/'
    "{*}extraSpec[@name='hw:cpu_policy']"
)
_SHARED = 'shared'
_ADDRESS = ('domain', 'bus', 'slot', 'function')
# The bit of the policy of an SEV guest that makes it an SEV-ES guest.
_SEV_ES_BIT = 0x4


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """One guest, as libvirt defines it.

    :ivar pins: a processor of the guest → the host's that it may run on
    :ivar shares: nova says that no processor of the guest is pinned
    :ivar mdevs: the uuids of its mediated devices
    :ivar pci: the addresses of the host's PCI devices that it has, for example
        ``0000:81:00.1``
    :ivar encryption: the kind of its encrypted memory; empty if its memory is
        not encrypted
    """

    uuid: str
    pins: Mapping[int, frozenset[int]]
    shares: bool = False
    mdevs: frozenset[str] = frozenset()
    pci: frozenset[str] = frozenset()
    encryption: str = ''

    def pinned(self) -> frozenset[int]:
        """Return the host's processors that processors of the guest have.

        A processor that may run on several of the host's is not pinned.
        """
        if self.shares:
            return frozenset()
        alone = (on for on in self.pins.values() if len(on) == 1)
        return frozenset().union(*alone)


def read(documents: Mapping[str, str]) -> dict[str, Guest]:
    """Return uuid → guest.

    :param documents: uuid → XML
    :raises hypervisor.Unanswered: a guest's XML cannot be read
    """
    return {uuid: _guest(uuid, text) for uuid, text in documents.items()}


def _guest(uuid: str, text: str) -> Guest:
    domain = xml.parse(text, f'guest {uuid}')
    try:
        return Guest(
            uuid=uuid,
            pins=dict(_pins(domain)),
            shares=domain.findtext(_POLICY) == _SHARED,
            mdevs=frozenset(_mdevs(domain)),
            pci=frozenset(_pci(domain)),
            encryption=_encryption(domain.find('launchSecurity')),
        )
    except (errors.ConfigError, KeyError, ValueError) as exc:
        raise hypervisor.Unanswered(
            f'the XML of guest {uuid} cannot be understood: {exc}'
        ) from exc


def _pins(domain: xml.Element) -> Iterator[tuple[int, frozenset[int]]]:
    for pin in domain.iterfind('cputune/vcpupin'):
        on = cpusets.parse(pin.attrib['cpuset'], 'cpuset')
        yield int(pin.attrib['vcpu']), on or frozenset()


def _mdevs(domain: xml.Element) -> Iterator[str]:
    for device in domain.iterfind("devices/hostdev[@type='mdev']"):
        for address in device.iterfind('source/address'):
            yield address.attrib['uuid']


def _pci(domain: xml.Element) -> Iterator[str]:
    for device in domain.iterfind("devices/hostdev[@type='pci']"):
        for address in device.iterfind('source/address'):
            numbers = (int(address.attrib[part], 16) for part in _ADDRESS)
            yield '{:04x}:{:02x}:{:02x}.{:x}'.format(*numbers)


def _encryption(element: xml.Element | None) -> str:
    kind = '' if element is None else element.get('type', '')
    if kind in {SEV_SNP, TDX}:
        return kind
    if element is None or kind != SEV:
        return ''
    policy = int(element.findtext('policy') or '0', 16)
    return SEV_ES if policy & _SEV_ES_BIT else SEV
