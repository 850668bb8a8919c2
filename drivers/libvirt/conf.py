# SPDX-License-Identifier: Apache-2.0
"""Options of nova.conf that change what nova-compute reports for its host.

``capabilities/conf.py`` has those that decide traits, ``inventory/conf.py``
those that decide amounts and ``devices/options.py`` those that decide child
providers. The driver loader registers all of them.
"""

from oslo_config import cfg

from .capabilities import conf as guests
from .devices import options as devices
from .inventory import conf as inventory

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
    ],
}


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
    parts = (inventory.OPTS, _OPTS, guests.OPTS, devices.OPTS)
    groups = sorted({group for opts in parts for group in opts})
    return [
        (group, [opt for opts in parts for opt in opts.get(group, ())])
        for group in groups
    ]
