# SPDX-License-Identifier: Apache-2.0
"""Options of nova.conf that change what nova-compute reports for its host.

``capabilities/conf.py`` has those that decide traits, ``inventory/conf.py``
those that decide amounts, ``devices/options.py`` those that decide child
providers and ``drivers/libvirtd/options.py`` those that name the libvirt. The
driver loader registers all of them.
"""

from oslo_config import cfg

from ..libvirtd import options as libvirtd
from .capabilities import conf as guests
from .devices import options as devices
from .inventory import conf as inventory


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
