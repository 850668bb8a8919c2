# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt what guests of this host can have.

It does I/O, through ``libvirtd/``. ``driver.py`` makes the one reader.
"""

from ..cpu import guest_cpu, guest_source
from ..libvirtd import hypervisor
from . import guest_options, host_capabilities


class GuestReader:
    """libvirt's answers about guests, by nova's options."""

    def __init__(
        self,
        libvirt: hypervisor.Hypervisor,
        options: guest_options.GuestOptions,
    ) -> None:
        self._libvirt = libvirt
        self._options = options

    def guest_cpu(self, machine: str) -> guest_cpu.GuestCpu:
        """Return the features that the processors of guests get.

        :param machine: the kernel's name for the host's architecture
        """
        options = self._options.cpu
        try:
            host = host_capabilities.parse(self._libvirt.capabilities())
        except hypervisor.Unsupported as exc:
            return guest_source.without_libvirt(options, machine, str(exc))
        except hypervisor.Unanswered as exc:
            return guest_cpu.GuestCpu(problem=str(exc))
        source = guest_source.GuestSource(
            libvirt=self._libvirt,
            request=host_capabilities.host_kind(
                host, options.virt_type, self._options.machine_types
            ),
            host_cpu=host.cpu,
        )
        return source.read(options)
