# SPDX-License-Identifier: Apache-2.0
"""Options of ``[DEFAULT]``, with the names and the meaning of nova.conf."""

import math
from typing import Any

from oslo_config import cfg, types

from ..tree import inventory

GROUP = 'DEFAULT'
DEFAULT_INTERVAL = 60
STATE_PATH = '/var/lib/compute-agent'
LONGEST_INTERVAL = 7 * 24 * 3600  # a week; far below an overflow of timers

_IDENTITY = [
    cfg.StrOpt(
        'host',
        sample_default='<the canonical name of this host>',
        help='The name of the compute node, if the driver describes this host. '
        'The default is the canonical host name, which is also the hypervisor '
        'hostname that nova-compute gets from libvirt. In nova.conf, this '
        "option names nova's service, not the node: if placement knows this "
        'host by the hypervisor hostname, the node keeps that name, and the '
        'agent says so. An existing '
        'provider keeps its name: after a change of this option, run '
        '"compute-agent resource provider rename".',
    ),
    cfg.ListOpt(
        'compute_driver',
        default=['libvirt'],
        help='The driver that describes the resources, by the name of its '
        'entry point in the group compute_agent.drivers. The command '
        '"compute-agent driver list" lists the installed drivers. The names '
        'of nova.conf, such as libvirt.LibvirtDriver, work too. A driver that '
        'runs others takes one of them after a colon, as NAME:TARGET. With '
        'several drivers, such as libvirt,host, each adds to one tree for each node: '
        'the first driver of a node describes its root, and each decides only '
        'what it reports itself. The claims of a driver that you remove from '
        'the list end: the agent removes what it added for that driver.',
    ),
    cfg.StrOpt(
        'state_path',
        default=STATE_PATH,
        help='The directory of the state of the agent: the record of its '
        'writes, its last readings of placement, and the compute_id file with '
        "this host's uuid. Each agent needs a directory of its own. The value in "
        "nova.conf is nova's directory: the agent reads nova's compute_id there, "
        'and keeps nothing in it.',
    ),
    cfg.StrOpt(
        'instances_path',
        default='$state_path/instances',
        help='A directory on the file system that is reported as DISK_GB. '
        'The directory need not exist yet.',
    ),
    cfg.IntOpt(
        'update_resources_interval',
        default=0,
        min=-1,
        max=LONGEST_INTERVAL,
        mutable=True,
        help='The seconds from one cycle of the daemon to the next. 0 means '
        f'the default of {DEFAULT_INTERVAL} seconds. With a negative value, '
        'the daemon runs a single successful cycle and then waits.',
    ),
    cfg.IntOpt(
        'periodic_fuzzy_delay',
        default=60,
        min=0,
        max=LONGEST_INTERVAL,
        help='The longest time, in seconds, that the daemon waits before its '
        'first cycle. The wait is random, and never longer than '
        'update_resources_interval. It spreads the requests of agents that '
        'start together, in the first cycle and in later ones. 0 means no '
        'wait; with an embedded placement there is none either. The other '
        'commands never wait.',
    ),
]

_RESERVED = [
    cfg.IntOpt(
        'reserved_host_cpus',
        default=0,
        min=0,
        max=inventory.MAX_INT,
        help='The number of CPUs reserved for the host.',
    ),
    cfg.IntOpt(
        'reserved_host_memory_mb',
        default=512,
        min=0,
        max=inventory.MAX_INT,
        help='The memory, in MiB, reserved for the host.',
    ),
    cfg.IntOpt(
        'reserved_host_disk_mb',
        default=0,
        min=0,
        max=inventory.MAX_INT * 1024,
        help='The disk space, in MiB, reserved for the host. It is rounded up '
        'to whole GiB.',
    ),
]

# Resource class → the stem of the option's name, and nova's initial ratio.
RATIOS = {
    'VCPU': ('cpu', 4.0),
    'MEMORY_MB': ('ram', 1.0),
    'DISK_GB': ('disk', 1.0),
}


class _Ratio(types.Float):
    """A ratio that placement accepts: neither infinite nor "nan"."""

    def __init__(self) -> None:
        super().__init__(min=0.0, max=inventory.MAX_RATIO)

    def __call__(self, value: Any) -> float | None:
        """Return the number, or None for an empty text."""
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
            help=f'The allocation ratio of {rc}. It overwrites a ratio that '
            'an operator sets in placement. If this option is unset, empty or '
            '0, the ratio in placement stays.',
        ),
        cfg.Opt(
            f'initial_{stem}_allocation_ratio',
            type=_Ratio(),
            default=initial,
            help=f'The allocation ratio of a new inventory of {rc}. A ratio '
            'that an operator sets in placement later stays.',
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
