# SPDX-License-Identifier: Apache-2.0
"""Typed values of libvirt's host capabilities, and the kinds of guests.

Pure: no I/O, configuration, logging or clock. A kind of guest is an
architecture with a machine type. As nova does, the driver asks libvirt about
each architecture, with nova's default machine type and with each alias such as
``q35``.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from ...libvirtd import hypervisor, xml

# Sources: hw_machine_type in nova's configuration reference, and the machine
# types that nova's documentation names as its defaults.
_DEFAULT_MACHINES: Mapping[str, str] = {
    'aarch64': 'virt',
    'armv7l': 'virt',
    'i686': 'pc',
    'ppc64le': 'pseries',
    's390': 's390-ccw-virtio',
    's390x': 's390-ccw-virtio',
    'x86_64': 'pc',
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GuestArch:
    """One architecture that guests may have.

    :ivar emulators: virt_type → emulator; the key '' has the default one
    :ivar aliases: the machine types whose names newer releases redefine
    """

    arch: str
    emulators: Mapping[str, str]
    aliases: tuple[str, ...] = ()

    def emulator(self, virt_type: str) -> str:
        """Return the path of the emulator; empty if libvirt names none."""
        default = self.emulators.get('', '')
        return self.emulators.get(virt_type, default)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostCapabilities:
    """The host as libvirt describes it.

    :ivar cpu: the element ``host/cpu``
    """

    arch: str
    cpu: xml.Element | None = None
    guests: tuple[GuestArch, ...] = ()


def parse(text: str) -> HostCapabilities:
    """Return the values in the XML of capabilities.

    :raises hypervisor.Unanswered: the text is no XML, or names no architecture
    """
    root = xml.parse(text, 'capabilities', 'capabilities')
    arch = root.findtext('host/cpu/arch')
    if not arch:
        raise hypervisor.Unanswered(
            'the XML of capabilities has no element host/cpu/arch'
        )
    guests = (_guest(found) for found in root.findall('guest/arch'))
    return HostCapabilities(
        arch=arch.strip(),
        cpu=root.find('host/cpu'),
        guests=tuple(guest for guest in guests if guest.arch),
    )


def _guest(found: xml.Element) -> GuestArch:
    emulators = {'': (found.findtext('emulator') or '').strip()}
    for domain in found.findall('domain'):
        own = (domain.findtext('emulator') or '').strip()
        if own:
            emulators[domain.get('type', '')] = own
    machines = found.findall('machine')
    return GuestArch(
        arch=found.get('name', ''),
        emulators=emulators,
        aliases=tuple(
            sorted(
                {
                    m.text.strip()
                    for m in machines
                    if m.get('canonical') and m.text
                }
            )
        ),
    )


def machine_types(options: Iterable[str]) -> Mapping[str, str]:
    """Return arch → default machine type, as ``hw_machine_type`` changes it.

    :param options: entries ``ARCH=MACHINE``
    """
    chosen = (entry.strip().partition('=') for entry in options)
    return {**_DEFAULT_MACHINES, **{a: m for a, _, m in chosen if a and m}}


def host_kind(
    host: HostCapabilities, virt_type: str, defaults: Mapping[str, str]
) -> hypervisor.DomainCapabilitiesRequest:
    """Return the kind of guest that nova starts if an image names none."""
    own = [guest for guest in host.guests if guest.arch == host.arch]
    return hypervisor.DomainCapabilitiesRequest(
        emulator=own[0].emulator(virt_type) if own else '',
        arch=host.arch,
        machine=defaults.get(host.arch),
        virt_type=virt_type,
    )


def kinds(
    host: HostCapabilities, virt_type: str, defaults: Mapping[str, str]
) -> tuple[hypervisor.DomainCapabilitiesRequest, ...]:
    """Return all kinds of guests, sorted, each once."""
    found = {
        hypervisor.DomainCapabilitiesRequest(
            emulator=guest.emulator(virt_type),
            arch=guest.arch,
            machine=machine,
            virt_type=virt_type,
        )
        for guest in host.guests
        for machine in _machines(guest, defaults)
    }
    return tuple(sorted(found, key=lambda r: (r.arch, r.machine or '')))


def _machines(
    guest: GuestArch, defaults: Mapping[str, str]
) -> Iterator[str | None]:
    yield defaults.get(guest.arch)
    yield from guest.aliases
