# SPDX-License-Identifier: Apache-2.0
"""The questions that the driver asks libvirt, and the types of the answers.

Pure: no I/O, configuration, logging or clock. The answers are raw: XML as
libvirt sends it, and numbers. Every method raises ``Unanswered`` if libvirt
cannot say. An answer that is missing is unknown, never empty.

Unanswered      unknown for now: leave what depends on it as it is
└── Unsupported unknown for good: ask another source
"""

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence

from compute_agent import errors

#: The flag of ``domain_capabilities`` that lists every feature of the host
#: model (libvirt 12.2); an older libvirt refuses it.
EXPAND_CPU_FEATURES = 2

#: libvirt's name of QEMU, in capitals.
QEMU = 'QEMU'

Version = tuple[int, int, int]


class Unanswered(errors.DriverError):
    """libvirt does not answer the question."""


class Unsupported(Unanswered):
    """libvirt never answers the question here, so another source may.

    There is no binding for it, this hypervisor does not support the call, or
    libvirt does not let the agent's user ask. libvirt may answer later after
    any other ``Unanswered``, so no other source may replace the answer
    meanwhile.
    """


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The releases of libvirt and of the hypervisor that it manages.

    :ivar kind: libvirt's name of the hypervisor, for example QEMU
    """

    libvirt: Version
    hypervisor: Version
    kind: str

    @property
    def qemu(self) -> Version | None:
        """The release of QEMU; None for another hypervisor."""
        return self.hypervisor if self.kind.upper() == QEMU else None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Processors:
    """The numbers of the host's processors."""

    present: frozenset[int]
    online: frozenset[int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DomainCapabilitiesRequest:
    """The kind of guest that a question is about.

    :ivar emulator: the path of the emulator; empty for libvirt's default
    :ivar machine: None for the default machine type
    :ivar virt_type: kvm, qemu, lxc, …
    """

    emulator: str
    arch: str
    machine: str | None
    virt_type: str


class Hypervisor(typing.Protocol):
    """The answers of one hypervisor; each question may raise Unanswered."""

    def hostname(self) -> str:
        """Return the host's name, which names its provider."""
        ...

    def versions(self) -> Versions:
        """Return the releases of libvirt and of the hypervisor."""
        ...

    def session(self) -> int:
        """Return a number that changes when libvirtd was restarted."""
        ...

    def unanswered(self) -> str:
        """Return why a question had no answer since the last call, or ''.

        It is the first such question. Questions that libvirt never answers
        (``Unsupported``) do not count.
        """
        ...

    def capabilities(self) -> str:
        """Return the XML of the host's capabilities."""
        ...

    def domain_capabilities(
        self, request: DomainCapabilitiesRequest, flags: int = 0
    ) -> str:
        """Return the XML of what a guest of this kind can have."""
        ...

    def baseline_hypervisor_cpu(
        self, request: DomainCapabilitiesRequest, cpu_xml: str, *, expand: bool
    ) -> str:
        """Return the CPU that the hypervisor gives such a guest, as XML.

        :param expand: list every feature, not only those beside the model's
        """
        ...

    def baseline_cpu(self, cpu_xml: Sequence[str], *, expand: bool) -> str:
        """Return the CPU that all these CPUs contain, as XML."""
        ...

    def memory_mib(self) -> int:
        """Return the host's memory."""
        ...

    def processors(self) -> Processors:
        """Return the processors that are present, and those online."""
        ...

    def node_devices(self) -> Mapping[str, str]:
        """Return libvirt's name of a device → XML.

        The devices are those with a capability PCI, net, vdpa, mdev or
        mdev_types. The XML is empty if libvirt cannot tell it.
        """
        ...

    def domains(self) -> Mapping[str, str]:
        """Return uuid → XML of the guests that are defined or running."""
        ...

    def subscribe(
        self,
        wake: Callable[[], object],
        *,
        awaits_guests: Callable[[], bool],
    ) -> None:
        """Call ``wake`` when the host may have changed, until ``close``.

        :param awaits_guests: True while the start and stop of guests matter
        """
        ...

    def close(self) -> None:
        """End threads and connections."""
        ...
