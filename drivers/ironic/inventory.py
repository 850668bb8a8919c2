# SPDX-License-Identifier: Apache-2.0
"""The one inventory record of a node, reserved or not.

Pure: no I/O, configuration, logging or clock. A bare-metal node is one unit of
its resource class. It is reserved if nova would consider it unavailable or
used (nova.virt.ironic.driver, ``_node_resources_unavailable`` and
``_node_resources_used``). ``retired`` and ``fault`` are not read, because
Ironic keeps such nodes out of ``available`` or in maintenance.
"""

from compute_agent import error_text
from compute_agent.tree import inventory, names

from . import node as ironic

# The states in which a node can get an instance. Rows of very old releases
# have None instead of "available".
_GOOD_PROVISION_STATES = ('available', None)
_ERROR = 'error'


def why_reserved(node: ironic.Node, *, skip_in_use: bool) -> str | None:
    """Return why the node is reserved, None if it is not.

    :param skip_in_use: do not reserve a node because of its instance, whose
        allocation is enough
    """
    if node.maintenance:
        return 'it is in maintenance'
    if node.power_state is None:
        return 'its power state is unknown'
    if node.power_state == _ERROR:
        return 'its power state is error'
    if node.provision_state not in _GOOD_PROVISION_STATES:
        return error_text.printable(
            f'its provision state is {node.provision_state}'
        )
    if node.instance_uuid is not None and not skip_in_use:
        return error_text.printable(f'it has instance {node.instance_uuid}')
    return None


def records(
    node: ironic.Node, *, skip_in_use: bool
) -> dict[str, inventory.Record]:
    """Return the node's inventory: one unit of its resource class.

    :raises errors.InvalidName: it has no class, or one that is invalid
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
