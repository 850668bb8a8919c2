# SPDX-License-Identifier: Apache-2.0
"""The options of nova.conf that decide the child providers.

``conf.py`` of the driver registers and lists them. The groups ``[mdev_TYPE]``
are known only when the files are read, so ``settings`` registers them.
"""

import dataclasses
import typing
from collections.abc import Iterator

from oslo_config import cfg

from ..devices import mdev, pci_specs

OPTS: dict[str, list[cfg.Opt]] = {
    'devices': [
        cfg.ListOpt(
            'enabled_mdev_types',
            default=[],
            deprecated_name='enabled_vgpu_types',
            help='The types of mediated devices, such as virtual GPUs, that '
            'guests may have. The group [mdev_TYPE] of a type (formerly '
            '[vgpu_TYPE]) may have these options: device_addresses, the '
            'parent devices of this type (a type without them is for all '
            'other parents); mdev_class, the resource class (default: VGPU); '
            'max_instances, the most devices of this type on the host.',
        ),
    ],
    'libvirt': [
        cfg.IntOpt(
            'num_intel_tdx_guests',
            min=0,
            help='The most TDX guests at a time. If the kernel names a '
            'smaller number (misc.capacity of the root cgroup), that is '
            'reported.',
        ),
        cfg.BoolOpt(
            'device_numa_traits',
            default=False,
            help='Report the NUMA node of each PCI device as a trait of its '
            'provider, CUSTOM_NUMA_0 for example. nova-compute does not have '
            'this option.',
        ),
    ],
    'pci': [
        cfg.BoolOpt(
            'report_in_placement',
            default=False,
            help='Report the PCI devices that device_spec selects, each with '
            'a provider of its own. Do not use it on a host where '
            'nova-compute runs without it: nova-compute does not start if it '
            'finds such a provider. With [compute_agent] mode = reporter, '
            'nova-compute reports these devices, and the agent leaves them.',
        ),
        cfg.MultiStrOpt(
            'device_spec',
            default=[],
            deprecated_opts=[
                cfg.DeprecatedOpt('passthrough_whitelist', group='pci'),
                cfg.DeprecatedOpt(
                    'pci_passthrough_whitelist', group='DEFAULT'
                ),
            ],
            help='A JSON object, or a list of objects, that selects PCI '
            'devices for guests by vendor_id, product_id and address, and '
            "gives them tags. The format is nova's. The option may be given "
            'several times; the first entry that selects a device counts.',
        ),
    ],
}

# The [compute_agent] mode of an agent that reports where nova-compute starts the
# guests.
_REPORTER = 'reporter'

# The options of a group [mdev_TYPE]: name, class, arguments.
_MDEV_OPTS: tuple[tuple[str, type[cfg.Opt], dict[str, typing.Any]], ...] = (
    ('device_addresses', cfg.ListOpt, {'default': []}),
    (
        'mdev_class',
        cfg.StrOpt,
        {
            'default': mdev.VGPU,
            'regex': r'^(VGPU|CUSTOM_[A-Z0-9_]+)$',
            'max_length': 255,
        },
    ),
    ('max_instances', cfg.IntOpt, {'min': 1}),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of the options.

    :ivar specs: the entries of device_spec; empty if PCI devices are not
        reported
    :ivar all_specs: the entries of device_spec in any case
    :ivar leaves_pci: True if nova-compute reports the PCI devices itself, so
        that their providers stay as they are
    """

    types: mdev.EnabledTypes = dataclasses.field(
        default_factory=mdev.EnabledTypes
    )
    specs: tuple[pci_specs.DeviceSpec, ...] = ()
    all_specs: tuple[pci_specs.DeviceSpec, ...] = ()
    leaves_pci: bool = False
    numa_traits: bool = False
    tdx_guests: int | None = None
    cpu_mode: str | None = None
    virt_type: str = 'kvm'


def settings(conf: cfg.ConfigOpts) -> Settings:
    """Return the values of the options.

    :raises errors.ConfigError: a value is wrong
    """
    # nova-compute does so whatever its driver describes.
    leaves_pci = conf.compute_agent.get('mode') == _REPORTER
    reported = conf.pci.report_in_placement
    specs = pci_specs.parse(conf.pci.device_spec, reported=reported)
    return Settings(
        types=mdev.EnabledTypes.by_parents(list(_types(conf))),
        specs=specs if reported and not leaves_pci else (),
        all_specs=specs,
        leaves_pci=leaves_pci,
        numa_traits=conf.libvirt.device_numa_traits,
        tdx_guests=conf.libvirt.num_intel_tdx_guests,
        cpu_mode=conf.libvirt.cpu_mode,
        virt_type=conf.libvirt.virt_type,
    )


def mdev_groups(conf: cfg.ConfigOpts) -> dict[str, list[cfg.Opt]]:
    """Return the groups of the enabled types, with their options registered."""
    groups = {}
    for name in dict.fromkeys(conf.devices.enabled_mdev_types):
        group = f'mdev_{name}'
        groups[group] = [
            make(option, deprecated_group=f'vgpu_{name}', **arguments)
            for option, make, arguments in _MDEV_OPTS
        ]
        conf.register_opts(groups[group], group=group)
    return groups


def _types(conf: cfg.ConfigOpts) -> Iterator[mdev.EnabledType]:
    for group in mdev_groups(conf):
        yield mdev.EnabledType(
            id=group.removeprefix('mdev_'),
            resource_class=conf[group].mdev_class,
            addresses=tuple(conf[group].device_addresses),
            max_instances=conf[group].max_instances,
        )
