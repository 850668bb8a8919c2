# SPDX-License-Identifier: Apache-2.0
"""Options of nova.conf that change what nova-compute reports for its host.

The driver does not support most of them. It reads these so that it can say so,
and so that it does not report the amounts and traits that they decide
(``unsupported.py``). The driver loader registers them.
"""

from oslo_config import cfg

_TEXT = (
    "nova-compute's option, which this driver does not support. If it is {}, "
    'the driver does not report {}; what placement has of it stays.'
)


def _help(condition: str, effect: str) -> str:
    return _TEXT.format(condition, effect)


_VCPU = 'VCPU'
_CPUS = 'VCPU and PCPU'
_CHILDREN = 'the providers that nova-compute makes for it'

_OPTS: dict[str, list[cfg.Opt]] = {
    'DEFAULT': [
        cfg.StrOpt('vcpu_pin_set', help=_help('set', _VCPU)),
    ],
    'compute': [
        cfg.StrOpt('cpu_shared_set', help=_help('set', _VCPU)),
        cfg.StrOpt('cpu_dedicated_set', help=_help('set', _CPUS)),
    ],
    'devices': [
        cfg.ListOpt(
            'enabled_mdev_types',
            default=[],
            deprecated_name='enabled_vgpu_types',
            help=_help('set', _CHILDREN),
        ),
    ],
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
            help=_help('neither kvm nor qemu', 'CPU traits'),
        ),
        cfg.StrOpt(
            'cpu_mode',
            help=_help(
                'neither host-model nor host-passthrough', 'CPU traits'
            ),
        ),
        cfg.ListOpt(
            'cpu_model_extra_flags',
            default=[],
            help=_help('a list with -FLAG', 'the traits of these flags'),
        ),
        cfg.BoolOpt(
            'cpu_power_management', default=False, help=_help('true', _CPUS)
        ),
        cfg.IntOpt(
            'file_backed_memory',
            default=0,
            min=0,
            help=_help('above 0', 'MEMORY_MB'),
        ),
        cfg.StrOpt(
            'images_type',
            default='default',
            help=_help('lvm or rbd', 'DISK_GB'),
        ),
        cfg.ListOpt(
            'pmem_namespaces', default=[], help=_help('set', 'CUSTOM_PMEM_*')
        ),
        cfg.BoolOpt(
            'swtpm_enabled',
            default=False,
            help=_help('true', 'the traits COMPUTE_SECURITY_TPM_*'),
        ),
        cfg.IntOpt(
            'num_intel_tdx_guests', min=0, help=_help('set', _CHILDREN)
        ),
    ],
    'pci': [
        cfg.BoolOpt(
            'report_in_placement', default=False, help=_help('true', _CHILDREN)
        ),
    ],
    'workarounds': [
        cfg.BoolOpt(
            'reserve_disk_resource_for_image_cache',
            default=False,
            help=_help('true', 'DISK_GB'),
        ),
    ],
}


_URIS = {'lxc': 'lxc:///system', 'parallels': 'parallels:///system'}


def connection_uri(conf: cfg.ConfigOpts) -> str:
    """Return the URI of libvirt: the option's, or the one for the virt_type."""
    chosen: str = conf.libvirt.connection_uri
    return chosen or _URIS.get(conf.libvirt.virt_type, 'qemu:///system')


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``."""
    for group, opts in _OPTS.items():
        conf.register_opts(opts, group=None if group == 'DEFAULT' else group)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group."""
    return list(_OPTS.items())
