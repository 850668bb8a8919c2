# SPDX-License-Identifier: Apache-2.0
"""Drivers of nova's interface in a package of their own.

They run in nova's environment, as ``nova:rack_drivers.CLASS``. Each does with
nova's tree what a driver of a vendor may do.
"""

import json

from nova import (  # type: ignore[import-not-found]
    context,
    exception,
    objects,
)
from nova.virt import fake  # type: ignore[import-not-found]

UUIDS = {
    'rack-north': '2a1e6c3e-2f59-4c0e-8c45-8d5a6b0c1e01',
    'rack-south': '2a1e6c3e-2f59-4c0e-8c45-8d5a6b0c1e02',
}
AGGREGATE = '2a1e6c3e-2f59-4c0e-8c45-8d5a6b0c1e03'


class Racks:
    """The controller that the drivers ask.

    :ivar watts: the power of a chassis
    """

    def __init__(self):
        self.watts = 800

    def read(self):
        """Return what a chassis has."""
        return {'power': {'total': self.watts, 'max_unit': 400}}


CONTROLLER = Racks()


class SeveralNodes(fake.SmallFakeDriver):
    """Two nodes with stable uuids, each in an aggregate, with a chassis."""

    capabilities = {  # noqa: RUF012 (as in nova)
        **fake.SmallFakeDriver.capabilities,
        'supports_image_type_vhd': True,
        'supports_multiattach': False,
    }

    def init_host(self, host):
        super().init_host(host)
        self._set_nodes(list(UUIDS))

    def get_nodenames_by_uuid(self, refresh=False):  # noqa: FBT002
        return {UUIDS[name]: name for name in self.get_available_nodes()}

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        super().update_provider_tree(provider_tree, nodename, allocations)
        provider_tree.update_aggregates(nodename, {AGGREGATE})
        provider_tree.add_traits(nodename, 'CUSTOM_RACK')
        provider_tree.remove_traits(nodename, 'CUSTOM_FREE')
        chassis = f'{nodename}-chassis'
        if not provider_tree.exists(chassis):
            provider_tree.new_child(chassis, nodename)
        provider_tree.update_inventory(
            chassis, {'CUSTOM_POWER': CONTROLLER.read()['power']}
        )
        provider_tree.update_traits(chassis, ['CUSTOM_CHASSIS', 'OWNER_NOVA'])


class MovesGpus(SeveralNodes):
    """Its VGPUs were on the root, and are now on a card."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        moves = 'VGPU' in provider_tree.data(nodename).inventory
        if moves and allocations is None:
            raise exception.ReshapeNeeded
        super().update_provider_tree(provider_tree, nodename, allocations)
        card = f'{nodename}-card'
        if not provider_tree.exists(card):
            provider_tree.new_child(card, nodename)
        provider_tree.update_inventory(card, {'VGPU': {'total': 4}})
        provider_tree.add_traits(card, 'OWNER_NOVA')
        if not moves:
            return
        root = provider_tree.data(nodename).uuid
        for one in allocations.values():
            resources = one['allocations'][root]['resources']
            one['allocations'][provider_tree.data(card).uuid] = {
                'resources': {'VGPU': resources.pop('VGPU')}
            }


class CannotMove(MovesGpus):
    """It asks for the allocations and then cannot move them."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        if allocations is None:
            raise exception.ReshapeNeeded
        raise exception.ReshapeFailed(error='no card has room')


class NotReady(SeveralNodes):
    """Its hypervisor does not answer."""

    def get_nodenames_by_uuid(self, refresh=False):  # noqa: FBT002
        raise exception.VirtDriverNotReady


class AsksTheConductor(SeveralNodes):
    """It wants to know what only nova's database has."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        objects.MigrationList.get_by_filters(context.get_admin_context(), {})


class Remote(fake.FakeDriverWithPciResources):
    """A card of it has a serial number, which remote ports need."""

    def get_available_resource(self, nodename):
        found = super().get_available_resource(nodename)
        devices = json.loads(found['pci_passthrough_devices'])
        for device in devices:
            device['capabilities'] = {'vpd': {'card_serial_number': 'S1'}}
        return {**found, 'pci_passthrough_devices': json.dumps(devices)}


class NoDriver:
    """A class of another interface."""
