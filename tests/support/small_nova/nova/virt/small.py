# SPDX-License-Identifier: Apache-2.0
"""Drivers, each with one trait of nova's drivers."""

import json
from typing import Any

from nova import exception
from nova.conf import CONF
from nova.objects import base
from nova.virt import driver

UUID = '44444444-4444-4444-8444-444444444444'


class SmallDriver(driver.ComputeDriver):
    """One node with a stable uuid."""

    capabilities = {  # noqa: RUF012 (as in nova)
        'COMPUTE_TRUSTED_CERTS': True,
        'COMPUTE_RESCUE_BFV': False,
        'COMPUTE_REMOTE_MANAGED_PORTS': True,
    }
    begun = 0
    ended = 0

    def init_host(self, host: str) -> None:
        """Begin."""
        self.begun += 1
        self.host = host

    def cleanup_host(self, host: str) -> None:
        """End."""
        self.ended += 1

    def get_available_nodes(self, *, refresh: bool = False) -> list[str]:
        """Return the host."""
        assert refresh
        return [self.host]

    def get_nodenames_by_uuid(
        self, *, refresh: bool = False
    ) -> dict[str, str]:
        """Return its uuid."""
        return {UUID.upper(): self.get_available_nodes(refresh=refresh)[0]}

    def is_node_deleted(self, nodename: str) -> bool:
        """Return True for a node that is known to be gone."""
        return nodename == 'gone'

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Describe the node."""
        provider_tree.update_inventory(
            nodename, {'VCPU': {'total': CONF.vcpus}}
        )

    def get_available_resource(self, _nodename: str) -> dict[str, Any]:
        """Return the devices; nova's driver looks at guests' disks before."""
        base.ask('InstanceList', 'get_by_filters')
        devices = json.dumps(['0000:01:00.0', 'remote'])
        return {'pci_passthrough_devices': devices}


class Plain(SmallDriver):
    """A host whose uuid is nova's file."""

    get_nodenames_by_uuid = driver.ComputeDriver.get_nodenames_by_uuid


class Older(SmallDriver):
    """Only the methods of older interfaces."""

    update_provider_tree = driver.ComputeDriver.update_provider_tree

    def get_inventory(self, _nodename: str) -> dict[str, Any]:
        """Return the inventory."""
        return {'VCPU': {'total': 9}}

    def get_traits(self, _nodename: str) -> list[str]:
        """Return the traits."""
        return ['CUSTOM_OLD']


class Oldest(Plain):
    """Only the oldest method."""

    update_provider_tree = driver.ComputeDriver.update_provider_tree

    def get_available_resource(self, _nodename: str) -> dict[str, Any]:
        """Return the resources."""
        return {'vcpus': 3, 'memory_mb': 512, 'local_gb': 0}


class Wavers(Oldest):
    """It finds after some edits that it lacks the newer method."""

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Edit the tree, and give up."""
        provider_tree.new_child('half', nodename)
        raise NotImplementedError


class Refuses(SmallDriver):
    """It cannot be made."""

    def __init__(self, virtapi: object) -> None:
        super().__init__(virtapi)
        raise exception.NovaException('no\nhypervisor')


class Moves(SmallDriver):
    """It moves allocations, if it can."""

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Ask for them, and then fail."""
        if allocations is None:
            raise exception.ReshapeNeeded
        raise exception.ReshapeFailed('no room')


class Curious(SmallDriver):
    """It asks the conductor for what the agent does not know."""

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Ask."""
        base.ask('MigrationList', 'get_by_filters')


class Fails(SmallDriver):
    """Its hypervisor does not answer."""

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Fail."""
        raise TimeoutError('timed\nout')


class Careless(SmallDriver):
    """It edits a provider that is not there."""

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Edit it."""
        provider_tree.data('nowhere')


class NoDriver:
    """A class of no driver."""
