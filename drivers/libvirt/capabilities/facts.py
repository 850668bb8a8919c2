# SPDX-License-Identifier: Apache-2.0
"""The facts that decide the host's COMPUTE_* traits.

Pure: no I/O, configuration, logging or clock. ``guests.py`` collects them.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from ...libvirtd import hypervisor
from . import guest_options
from .domain_capabilities import Kind


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
    options: guest_options.GuestOptions
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
