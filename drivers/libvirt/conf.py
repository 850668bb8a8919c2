# SPDX-License-Identifier: Apache-2.0
"""Options of nova.conf that change what nova-compute reports for its host.

``options/guests.py`` has those that decide traits, ``options/inventory.py``
those that decide amounts, ``options/devices.py`` those that decide child
providers and ``drivers/libvirt_python/options.py`` those that name the libvirt.
The driver loader registers all of them.
"""

from oslo_config import cfg

from ..libvirt_python import options as libvirtd
from .options import devices, guests, inventory


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``."""
    for group, opts in list_opts():
        conf.register_opts(opts, group=None if group == 'DEFAULT' else group)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group."""
    hypervisor = {libvirtd.GROUP: libvirtd.OPTS}
    parts = (inventory.OPTS, hypervisor, guests.OPTS, devices.OPTS)
    groups = sorted({group for opts in parts for group in opts})
    return [
        (group, [opt for opts in parts for opt in opts.get(group, ())])
        for group in groups
    ]
