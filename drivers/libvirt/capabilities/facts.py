# SPDX-License-Identifier: Apache-2.0
"""The facts that decide the host's COMPUTE_* traits.

Pure: no I/O, configuration, logging or clock. ``reading/guests.py`` collects them:
nova's options, and libvirt's answer about each kind of guest. An element that is
absent from an answer is unknown: an older libvirt does not mention what it
supports. ``supported='no'`` is no, and an enumeration is complete.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from compute_agent.virt.values import finding

from ...libvirtd import hypervisor, xml
from ..cpu import guest_cpu
from . import host_capabilities


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GuestOptions:
    """The options that decide what guests of this host can have.

    :ivar machine_types: arch → the machine type of guests that name no type
    :ivar tpm_secrets: the ways to keep the secret of a TPM
    :ivar images_type: nova's storage of disks, for example rbd
    """

    cpu: guest_cpu.CpuOptions = dataclasses.field(
        default_factory=guest_cpu.CpuOptions
    )
    machine_types: Mapping[str, str] = dataclasses.field(
        default_factory=lambda: host_capabilities.machine_types(())
    )
    swtpm_enabled: bool = False
    tpm_secrets: tuple[str, ...] = ('user', 'host', 'deployment')
    file_backed_memory: bool = False
    images_type: str = 'default'
    force_raw_images: bool = True
    excluded_image_types: tuple[str, ...] = ()
    permit_post_copy: bool = False
    permit_auto_converge: bool = False


Found = finding.Found


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of guest, with libvirt's answer about it.

    :ivar root: the document; None if there is no answer
    :ivar problem: why there is no answer
    :ivar is_possible: False if this hypervisor has no such guests
    """

    request: hypervisor.DomainCapabilitiesRequest
    root: xml.Element | None = None
    problem: str = ''
    is_possible: bool = True

    @property
    def name(self) -> str:
        """The words of this kind for people."""
        request = self.request
        machine = request.machine or 'default'
        return f'{request.arch} {machine} {request.virt_type}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a value in domain capabilities.

    :ivar path: the element with the attribute ``supported``
    :ivar enum: the name of the enumeration in it
    """

    path: str
    enum: str
    value: str

    def __str__(self) -> str:
        """Return the place as a path of XML."""
        return f'{self.path}/enum[{self.enum}]/{self.value}'

    def found(self, root: xml.Element) -> Found:
        """Return the decision of one document."""
        element = root.find(self.path)
        if element is None:
            return Found.UNKNOWN
        if element.get('supported') == 'no':
            return Found.ABSENT
        enum = element.find(f"enum[@name='{self.enum}']")
        if enum is None:
            return Found.UNKNOWN
        values = {(one.text or '').strip() for one in enum.findall('value')}
        return Found.PRESENT if self.value in values else Found.ABSENT


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts that decide the traits.

    :ivar arch: the host's architecture
    :ivar kinds: the kinds of guests, with libvirt's answers
    :ivar devices: architecture → the devices of its emulator; None if they
        cannot be read
    :ivar listed: True if libvirt listed the architectures of guests
    :ivar userfaultfd: the content of the kernel's switch
    """

    arch: str
    options: GuestOptions
    versions: hypervisor.Versions | None = None
    kinds: Sequence[Kind] = ()
    devices: Mapping[str, frozenset[str] | None] = dataclasses.field(
        default_factory=dict
    )
    listed: bool = False
    userfaultfd: str | None = None

    @property
    def answered(self) -> tuple[Kind, ...]:
        """The kinds of guests that libvirt described."""
        return tuple(kind for kind in self.kinds if kind.root is not None)

    @property
    def is_complete(self) -> bool:
        """True if libvirt answered each question, or can have no answer."""
        return all(
            kind.root is not None or not kind.is_possible
            for kind in self.kinds
        )

    @property
    def has_devices(self) -> bool:
        """True if each emulator listed its devices."""
        return all(found is not None for found in self.devices.values())

    @property
    def own(self) -> tuple[Kind, ...]:
        """The kinds of guests with the host's architecture."""
        return tuple(k for k in self.kinds if k.request.arch == self.arch)
