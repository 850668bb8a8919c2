# SPDX-License-Identifier: Apache-2.0
"""Options of nova.conf that change what nova-compute reports for its host.

``inventory/conf.py`` has those that decide amounts. The driver does not support
most of the others, which are here: it reads them so that it can say so, and so
that it does not report the traits that they decide (``unsupported.py``). The
driver loader registers all of them.
"""

from oslo_config import cfg

from .capabilities import guest_options as options
from .capabilities import host_capabilities
from .cpu import guest_cpu
from .devices import options as devices
from .inventory import conf as inventory

_TEXT = (
    "nova-compute's option, which this driver does not support. If it is {}, "
    'the driver does not report {}; what placement has of it stays.'
)


def _help(condition: str, effect: str) -> str:
    return _TEXT.format(condition, effect)


_OPTS: dict[str, list[cfg.Opt]] = {
    'libvirt': [
        cfg.StrOpt(
            'connection_uri',
            default='',
            help='The URI of the libvirt that the driver asks. If it is empty, '
            'the driver asks lxc:///system for the virt_type lxc, '
            'parallels:///system for parallels and qemu:///system otherwise. '
            'Where no libvirt answers, the driver reads the files of the '
            'kernel.',
        ),
        cfg.StrOpt(
            'virt_type',
            default='kvm',
            choices=['kvm', 'lxc', 'qemu', 'parallels'],
            help='The kind of guests, as in nova.conf. The features that '
            'their processors get depend on it. The driver knows them for kvm '
            'and qemu; for other kinds, the CPU traits stay as placement has '
            'them.',
        ),
        cfg.StrOpt(
            'cpu_mode',
            choices=['host-model', 'host-passthrough', 'custom', 'none'],
            help='The processors of guests, as in nova.conf. If it is not '
            'set, it is host-model, and host-passthrough on AArch64.',
        ),
        cfg.ListOpt(
            'cpu_models',
            default=[],
            deprecated_name='cpu_model',
            help='The models of processors for cpu_mode = custom, as in '
            'nova.conf. The features of the models that guests of this host '
            'can have are reported; a model that is not usable here counts '
            'for nothing.',
        ),
        cfg.ListOpt(
            'cpu_model_extra_flags',
            default=[],
            help='Features that guests get or do not get beside those of the '
            'model, as in nova.conf: FLAG and +FLAG add one, -FLAG takes one '
            'away.',
        ),
        cfg.ListOpt(
            'hw_machine_type',
            default=[],
            help='The default machine type of guests by architecture, as in '
            'nova.conf: ARCH=MACHINE. The driver asks libvirt what guests of '
            'this type can have.',
        ),
        cfg.BoolOpt(
            'swtpm_enabled',
            default=False,
            help=_help('true', 'the traits COMPUTE_SECURITY_TPM_*'),
        ),
    ],
}


def guest_options(conf: cfg.ConfigOpts) -> options.GuestOptions:
    """Return the options that decide what guests can have."""
    found = conf.libvirt
    return options.GuestOptions(
        cpu=guest_cpu.CpuOptions(
            virt_type=found.virt_type,
            mode=found.cpu_mode,
            models=tuple(found.cpu_models),
            flags=tuple(found.cpu_model_extra_flags),
        ),
        machine_types=host_capabilities.machine_types(found.hw_machine_type),
    )


_URIS = {'lxc': 'lxc:///system', 'parallels': 'parallels:///system'}


def connection_uri(conf: cfg.ConfigOpts) -> str:
    """Return the URI of libvirt: the option's, or the one for the virt_type."""
    chosen: str = conf.libvirt.connection_uri
    return chosen or _URIS.get(conf.libvirt.virt_type, 'qemu:///system')


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``."""
    for group, opts in list_opts():
        conf.register_opts(opts, group=None if group == 'DEFAULT' else group)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group."""
    groups = sorted({*_OPTS, *inventory.OPTS, *devices.OPTS})
    parts = (inventory.OPTS, _OPTS, devices.OPTS)
    return [
        (group, [opt for opts in parts for opt in opts.get(group, ())])
        for group in groups
    ]
