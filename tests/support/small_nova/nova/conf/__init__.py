# SPDX-License-Identifier: Apache-2.0
"""Some of nova's options."""

from oslo_config import cfg

CONF = cfg.ConfigOpts()
CONF.register_opts(
    [
        cfg.StrOpt('host', default='cn1'),
        cfg.StrOpt('rootwrap_config', default='/etc/nova/rootwrap.conf'),
        cfg.IntOpt('vcpus', default=2),
    ]
)
CONF.register_opts(
    [cfg.BoolOpt('disable_rootwrap', default=False)], 'workarounds'
)
CONF.register_opts([cfg.MultiStrOpt('device_spec', default=[])], 'pci')
CONF.register_opts(
    [cfg.BoolOpt('cpu_power_management', default=False)], 'libvirt'
)
