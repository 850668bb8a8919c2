# SPDX-License-Identifier: Apache-2.0
"""Nova's options that decide what guests can have.

Pure: no I/O, configuration, logging or clock. ``conf.py`` makes the value from
configuration.
"""

import dataclasses
from collections.abc import Mapping

from ..cpu import guest_cpu
from . import host_capabilities


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GuestOptions:
    """The options that decide what guests of this host can have.

    :ivar machine_types: arch → the machine type of guests that ask for none
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
