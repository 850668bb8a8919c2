# SPDX-License-Identifier: Apache-2.0
"""libvirt's node devices as typed values.

Pure: no I/O, configuration, logging or clock. libvirt describes each device in
an XML document. A document that cannot be understood makes that one device
unknown; it hides no other device.
"""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping

from compute_agent.tree import inventory

from ...libvirtd import hypervisor, xml

# Domains of a VMD controller have five digits; nova skips these devices.
MAX_DOMAIN = 0xFFFF
_NETWORK = 0x02
_MAX_ID = 0xFFFF
# libvirt names a device by the capability that it has at least.
_ALWAYS = ('pci_', 'net_', 'mdev_', 'vdpa_')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MdevType:
    """A type of mediated devices that a parent offers.

    :ivar available: the devices of this type that can still be made
    """

    id: str
    name: str
    available: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A PCI function.

    :ivar address: in lower case, for example 0000:81:00.0
    :ivar vendor: four hexadecimal digits, in lower case; so is ``product``
    :ivar virt_functions: the addresses of its VFs; None if it is no PF
    :ivar phys_function: the address of its PF; None if it is no VF
    :ivar serial: the serial number of the card in its VPD, may be empty
    :ivar pci_class: class, subclass and interface, None if libvirt is too old
    """

    name: str
    address: str
    vendor: str
    product: str
    numa_node: int | None = None
    virt_functions: tuple[str, ...] | None = None
    phys_function: str | None = None
    mdev_types: tuple[MdevType, ...] = ()
    serial: str = ''
    pci_class: int | None = None

    @property
    def is_network_card(self) -> bool:
        """True if its class says so."""
        return self.pci_class is not None and self.pci_class >> 16 == _NETWORK

    @property
    def is_pf(self) -> bool:
        """True if it is a physical function, with VFs or without."""
        return self.virt_functions is not None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class VirtualParent:
    """A parent of mediated devices that is no PCI device."""

    name: str
    mdev_types: tuple[MdevType, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NetDevice:
    """A network interface.

    :ivar features: libvirt's names of the offloads that are on; None if it
        names none, because it could not ask
    """

    name: str
    parent: str
    interface: str
    features: frozenset[str] | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class VdpaDevice:
    """A vDPA device; its parent is a VF."""

    name: str
    parent: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mdev:
    """A mediated device that exists."""

    name: str
    parent: str
    type: str
    uuid: str


Device = PciDevice | VirtualParent | NetDevice | VdpaDevice | Mdev


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeDevices:
    """The devices of a host.

    Values are compared by identity, so what follows from one can be kept.

    :ivar unreadable: libvirt's name of a device → why it is unknown
    """

    pci: tuple[PciDevice, ...] = ()
    virtual_parents: tuple[VirtualParent, ...] = ()
    net: tuple[NetDevice, ...] = ()
    mdevs: tuple[Mdev, ...] = ()
    unreadable: Mapping[str, str] = dataclasses.field(default_factory=dict)


def read(documents: Mapping[str, str]) -> NodeDevices:
    """Return the devices of these documents (libvirt's name → XML)."""
    found: list[Device] = []
    unreadable: dict[str, str] = {}
    for name, text in sorted(documents.items()):
        try:
            found += _parsed(name, text)
        except hypervisor.Unanswered as exc:
            unreadable[name] = str(exc)
    return NodeDevices(
        pci=tuple(d for d in found if isinstance(d, PciDevice)),
        virtual_parents=tuple(
            d for d in found if isinstance(d, VirtualParent)
        ),
        net=tuple(d for d in found if isinstance(d, NetDevice)),
        mdevs=tuple(d for d in found if isinstance(d, Mdev)),
        unreadable=unreadable,
    )


# Most documents are the same in each cycle.
@functools.lru_cache(maxsize=4096)
def _parsed(name: str, text: str) -> tuple[Device, ...]:
    root = xml.parse(text, f'node device {name}', 'device')
    try:
        found = tuple(_devices(name, root))
    except (TypeError, ValueError) as exc:
        raise hypervisor.Unanswered(
            f'the XML of node device {name} lacks a value, or has a wrong one'
        ) from exc
    if name.startswith(_ALWAYS) and not found:
        raise hypervisor.Unanswered(
            f'the XML of node device {name} has no capability'
        )
    return found


def _devices(name: str, root: xml.Element) -> Iterator[Device]:
    parent = root.findtext('parent', '')
    for capability in root.findall('capability'):
        match capability.get('type'):
            case 'pci':
                yield _pci(name, capability)
            case 'net':
                yield _net(name, parent, capability)
            case 'vdpa':
                yield VdpaDevice(name=name, parent=parent)
            case 'mdev':
                yield _mdev(name, parent, capability)
            case 'mdev_types':
                types = tuple(_types([capability]))
                yield VirtualParent(name=name, mdev_types=types)


def _pci(name: str, pci: xml.Element) -> PciDevice:
    parts = {c.get('type'): c for c in pci.findall('capability')}
    functions = parts.get('virt_functions')
    physical = parts.get('phys_function')
    types = [
        c for c in pci.findall('capability') if c.get('type') == 'mdev_types'
    ]
    return PciDevice(
        name=name,
        address=_address(*(_integer(pci.findtext(part)) for part in _PARTS)),
        vendor=_identifier(pci.find('vendor')),
        product=_identifier(pci.find('product')),
        numa_node=_numa_node(pci.find('numa')),
        virt_functions=None
        if functions is None
        else tuple(_addresses(functions)),
        phys_function=None
        if physical is None
        else next(_addresses(physical), None),
        mdev_types=tuple(_types(types)),
        serial=_serial(parts.get('vpd')),
        pci_class=_integer(pci.findtext('class', '0')) or None,
    )


_PARTS = ('domain', 'bus', 'slot', 'function')
_LIMITS = (0xFF, 0x1F, 0x7)


def _addresses(capability: xml.Element) -> Iterator[str]:
    for one in capability.findall('address'):
        yield _address(*(_integer(one.get(part)) for part in _PARTS))


def _address(domain: int, bus: int, slot: int, function: int) -> str:
    for number, limit in zip((bus, slot, function), _LIMITS, strict=True):
        if number > limit:
            raise ValueError('no PCI address')
    return f'{domain:04x}:{bus:02x}:{slot:02x}.{function:x}'


def _integer(text: str | None) -> int:
    """Return a number that is written as C does, such as 0x81 or 129.

    :raises ValueError: it is missing, below 0 or beyond placement's numbers
    """
    number = -1 if text is None else int(text, 0)
    if not 0 <= number <= inventory.MAX_INT:
        raise ValueError('no such number')
    return number


def _identifier(element: xml.Element | None) -> str:
    if element is None:
        raise ValueError('no id')
    number = _integer(element.get('id'))
    if number > _MAX_ID:
        raise ValueError('no such id')
    return f'{number:04x}'


def _numa_node(numa: xml.Element | None) -> int | None:
    """Return the NUMA node; the kernel writes -1 if there is no node."""
    node = None if numa is None else numa.get('node')
    return None if node in (None, '-1') else _integer(node)


def _serial(vpd: xml.Element | None) -> str:
    if vpd is None:
        return ''
    return (
        vpd.findtext("fields[@access='readonly']/serial_number") or ''
    ).strip()


def _types(capabilities: Iterable[xml.Element]) -> Iterator[MdevType]:
    for capability in capabilities:
        for one in capability.findall('type'):
            yield MdevType(
                id=_text(one.get('id')),
                name=one.findtext('name', '').strip(),
                available=_integer(one.findtext('availableInstances')),
            )


def _net(name: str, parent: str, net: xml.Element) -> NetDevice:
    features = frozenset(_text(f.get('name')) for f in net.findall('feature'))
    return NetDevice(
        name=name,
        parent=parent,
        interface=net.findtext('interface', ''),
        features=features or None,
    )


def _mdev(name: str, parent: str, mdev: xml.Element) -> Mdev:
    kind = mdev.find('type')
    return Mdev(
        name=name,
        parent=_text(parent),
        type=_text(None if kind is None else kind.get('id')),
        uuid=mdev.findtext('uuid', ''),
    )


def _text(text: str | None) -> str:
    if not text:
        raise ValueError('no text')
    return text
