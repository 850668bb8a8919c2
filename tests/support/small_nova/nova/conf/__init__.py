# SPDX-License-Identifier: Apache-2.0
"""Some of nova's options."""

from oslo_config import cfg

CONF = cfg.ConfigOpts()
CONF.register_opts(
    [
        cfg.StrOpt('host', default='cn1'),
        cfg.StrOpt('rootwrap_config', default='/etc/nova/rootwrap.conf'),
        cfg.IntOpt('vcpus', default=2),
        cfg.IntOpt('reserved_host_cpus', default=0),
        cfg.IntOpt('reserved_host_memory_mb', default=512),
        cfg.IntOpt('reserved_host_disk_mb', default=0),
    ]
)
CONF.register_opts(
    [cfg.BoolOpt('disable_rootwrap', default=False)], 'workarounds'
)
CONF.register_opts(
    [
        cfg.MultiStrOpt('device_spec', default=[]),
        cfg.BoolOpt('report_in_placement', default=False),
    ],
    'pci',
)
CONF.register_opts(
    [cfg.BoolOpt('cpu_power_management', default=False)], 'libvirt'
)
