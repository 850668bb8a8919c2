# SPDX-License-Identifier: Apache-2.0
"""The one inventory record of a node, and whether it is to be had.

Pure: no I/O, configuration, logging or clock. A bare-metal node is one unit of
its resource class, taken as a whole. It is reserved when nova would call it
unavailable or used (nova.virt.ironic.driver, ``_node_resources_unavailable``
and ``_node_resources_used``); ``retired`` and ``fault`` need no look, for
Ironic keeps such nodes out of ``available`` or in maintenance.
"""

from compute_agent.tree import inventory, names

from . import node as ironic
from . import plain

# States in which a node can take an instance. None is what rows of very old
# releases have for "available".
_GOOD_PROVISION_STATES = ('available', None)
_ERROR = 'error'


def why_reserved(node: ironic.Node, *, skip_in_use: bool) -> str | None:
    """Return why nobody may have the node now, None if anybody may.

    :param skip_in_use: a node with an instance is not reserved for that; its
        allocation keeps it
    """
    if node.maintenance:
        return 'it is in maintenance'
    if node.power_state is None:
        return 'its power state is not known'
    if node.power_state == _ERROR:
        return 'its power state is error'
    if node.provision_state not in _GOOD_PROVISION_STATES:
        return plain.shown(f'its provision state is {node.provision_state}')
    if node.instance_uuid is not None and not skip_in_use:
        return plain.shown(f'it has instance {node.instance_uuid}')
    return None


def records(
    node: ironic.Node, *, skip_in_use: bool
) -> dict[str, inventory.Record]:
    """Return the node's inventory: its one resource class, one unit of it.

    :raises errors.InvalidName: it has no class, or none placement could take
    """
    rc = names.custom_name(node.resource_class or '')
    reserved = why_reserved(node, skip_in_use=skip_in_use) is not None
    return {
        rc: {
            'total': 1,
            'reserved': int(reserved),
            'min_unit': 1,
            'max_unit': 1,
            'step_size': 1,
            'allocation_ratio': 1.0,
        }
    }
