# SPDX-License-Identifier: Apache-2.0
"""Options of neutron whose names are in other options."""

from oslo_config import cfg


def register_dynamic_opts(conf: cfg.ConfigOpts) -> None:
    """Register them."""
    conf.register_opts([cfg.StrOpt('one')], 'neutron_net')
