# SPDX-License-Identifier: Apache-2.0
"""The facts that decide the traits of the processors.

Pure: no I/O, configuration, logging or clock. ``root_traits.py`` collects them,
``findings.py`` decides by them.
"""

import dataclasses
from collections.abc import Mapping

from . import cpu_traits, guest_cpu, processors


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFlags:
    """The flags that py-cpuinfo reports.

    :ivar flags: None if it gave no answer; ``reason`` then says why
    """

    flags: frozenset[str] | None = None
    vendor: str = ''
    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts read from one host.

    :ivar machine: the kernel's name for the architecture
    :ivar kernel: the processors as the kernel shows them
    :ivar reported: the processors as py-cpuinfo reports them
    :ivar guest: the processors of guests as libvirt tells
    :ivar switches: path → the file's content, None if it cannot be read
    """

    machine: str
    kernel: processors.Processors
    reported: ReportedFlags = ReportedFlags()
    guest: guest_cpu.GuestCpu = dataclasses.field(
        default_factory=guest_cpu.GuestCpu
    )
    switches: Mapping[str, str | None] = dataclasses.field(
        default_factory=dict
    )

    @property
    def family(self) -> str | None:
        """The key of this machine's table in ``cpu_traits``."""
        return cpu_traits.family(self.machine)

    @property
    def vendor(self) -> str:
        """The vendor of the processors, empty if no source names it."""
        return self.kernel.vendor or self.reported.vendor

    @property
    def answered(self) -> bool:
        """True if a source listed the features of the processors."""
        if not self.guest.leaves_to_kernel:
            return True
        sources = (self.kernel.words, self.reported.flags)
        return self.family is None or any(s is not None for s in sources)
