# SPDX-License-Identifier: Apache-2.0
"""A driver in a package of its own, as docs/drivers.md shows it."""

from oslo_config import cfg

from compute_agent.virt import driver


class RackDriver(driver.ComputeDriver):
    """Describes the one rack this agent stands beside."""

    def __init__(self, units):
        self._units = units

    @classmethod
    def register_opts(cls, conf):
        conf.register_opts([cfg.IntOpt('units', default=42)], group='rack')

    @classmethod
    def from_conf(cls, conf):
        return cls(conf.rack.units)

    def get_available_nodes(self):
        return ['rack1']

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(
            nodename, {'CUSTOM_RACK_UNIT': {'total': self._units}}
        )
        provider_tree.declare_traits(nodename, 'CUSTOM_RACK')
        if not provider_tree.exists('rack1-nic'):
            provider_tree.new_child('rack1-nic', nodename)
        provider_tree.declare_traits('rack1-nic', 'HW_NIC_SRIOV')
