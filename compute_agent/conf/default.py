# SPDX-License-Identifier: Apache-2.0
"""Options of ``[DEFAULT]``, spelled and meant as in nova.conf."""

import math
from typing import Any

from oslo_config import cfg, types

from ..tree import inventory

GROUP = 'DEFAULT'
DEFAULT_INTERVAL = 60
LONGEST_INTERVAL = 7 * 24 * 3600  # a week; far below what clocks overflow by

_IDENTITY = [
    cfg.StrOpt(
        'host',
        sample_default='<the canonical name of this host>',
        help='The name of the compute node where the driver describes the '
        'host itself. Unset, it is the canonical host name, which is the '
        'hypervisor hostname that nova-compute has from libvirt. A provider '
        'keeps the name it was created with: after a change, rename it too '
        '("compute-agent provider rename").',
    ),
    cfg.StrOpt(
        'compute_driver',
        default='libvirt',
        help='The driver that describes the resources, by the name of its '
        'entry point in the group compute_agent.drivers. The command '
        '"compute-agent driver list" shows what is installed. The names '
        'used in nova.conf (libvirt.LibvirtDriver) are understood.',
    ),
    cfg.StrOpt(
        'state_path',
        default='/var/lib/compute-agent',
        help='The directory where the agent keeps its state: what it added '
        'to placement, what it last saw there, and the compute_id file with '
        "this host's uuid. One agent to a directory.",
    ),
    cfg.StrOpt(
        'instances_path',
        default='$state_path/instances',
        help='The directory whose file system is reported as DISK_GB. It '
        'need not exist yet.',
    ),
    cfg.IntOpt(
        'update_resources_interval',
        default=0,
        min=-1,
        max=LONGEST_INTERVAL,
        mutable=True,
        help='Seconds from one cycle of the daemon to the next. 0 means the '
        f'default of {DEFAULT_INTERVAL} seconds; a negative value means that '
        'the daemon does one cycle and then only waits.',
    ),
    cfg.IntOpt(
        'periodic_fuzzy_delay',
        default=60,
        min=0,
        max=LONGEST_INTERVAL,
        help='The daemon waits a random time before its first cycle, up to so '
        'many seconds and up to update_resources_interval, so that agents '
        'that are started together do not come to placement together: not '
        'then, and not later, for each keeps its distance to the others. 0 '
        'means to begin at once, as it does with a placement that is '
        'embedded. The other commands never wait.',
    ),
]

_RESERVED = [
    cfg.IntOpt(
        'reserved_host_cpus',
        default=0,
        min=0,
        max=inventory.MAX_INT,
        help='The number of CPUs that the host keeps for itself.',
    ),
    cfg.IntOpt(
        'reserved_host_memory_mb',
        default=512,
        min=0,
        max=inventory.MAX_INT,
        help='The memory, in MiB, that the host keeps for itself.',
    ),
    cfg.IntOpt(
        'reserved_host_disk_mb',
        default=0,
        min=0,
        max=inventory.MAX_INT * 1024,
        help='The disk space, in MiB, that the host keeps for itself. It is '
        'rounded up to whole GiB.',
    ),
]

# Resource class → the option's stem, and nova's initial ratio.
RATIOS = {
    'VCPU': ('cpu', 4.0),
    'MEMORY_MB': ('ram', 1.0),
    'DISK_GB': ('disk', 1.0),
}


class _Ratio(types.Float):
    """A number that placement takes as a ratio: not infinite, not "nan"."""

    def __init__(self) -> None:
        super().__init__(min=0.0, max=inventory.MAX_RATIO)

    def __call__(self, value: Any) -> float | None:
        """Return the number, None of an empty text."""
        number: float | None = super().__call__(value)
        if number is not None and not math.isfinite(number):
            raise ValueError('Should be a finite number')
        return number


_RATIOS = [
    opt
    for rc, (stem, initial) in RATIOS.items()
    for opt in (
        cfg.Opt(
            f'{stem}_allocation_ratio',
            type=_Ratio(),
            help=f'The allocation ratio of {rc}, forced: what operators set '
            'in placement is overwritten. Unset, empty or 0 means that it is '
            'theirs.',
        ),
        cfg.Opt(
            f'initial_{stem}_allocation_ratio',
            type=_Ratio(),
            default=initial,
            help=f'The allocation ratio that {rc} starts with where placement '
            'has none yet. What operators set later survives.',
        ),
    )
]

_OPTS = _IDENTITY + _RESERVED + _RATIOS


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of this group."""
    conf.register_opts(_OPTS)


def list_opts() -> list[tuple[Any, list[cfg.Opt]]]:
    """Return the options by group."""
    return [(GROUP, _OPTS)]
