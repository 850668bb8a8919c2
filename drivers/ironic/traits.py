# SPDX-License-Identifier: Apache-2.0
"""The traits that a node has in placement.

Pure: no I/O, configuration, logging or clock. They are the node's traits in
Ironic and the capabilities of the bare-metal driver. A trait that
placement does not accept is left out; the others are reported.
"""

from collections.abc import Mapping

from compute_agent import errors
from compute_agent.tree import names

from . import node as ironic

# The capabilities of nova's Ironic driver (nova.virt.ironic.driver,
# ``capabilities``, by the names of nova.virt.driver, CAPABILITY_TRAITS_MAP).
# With them, flavors and images that require these traits find the node.
CAPABILITIES = (
    'COMPUTE_IMAGE_TYPE_AMI',
    'COMPUTE_IMAGE_TYPE_QCOW2',
    'COMPUTE_IMAGE_TYPE_RAW',
    'COMPUTE_NET_ATTACH_INTERFACE',
)

# It marks a disabled compute service and is not a property of a node.
NEVER = frozenset({names.COMPUTE_STATUS_DISABLED})

_OF_OTHERS = 'it marks a disabled compute service; use maintenance instead'
_NO_NAME = (
    f'placement accepts 1 to {names.MAX_NAME} of the characters A-Z, 0-9 and _'
)


def reported(node: ironic.Node) -> frozenset[str]:
    """Return the traits that are reported of this node."""
    return node.traits.union(CAPABILITIES).difference(left_out(node))


def left_out(node: ironic.Node) -> Mapping[str, str]:
    """Return the node's traits in Ironic that are not reported, and why."""
    return {
        trait: _OF_OTHERS if trait in NEVER else _NO_NAME
        for trait in sorted(node.traits)
        if trait in NEVER or not _is_name(trait)
    }


def _is_name(trait: str) -> bool:
    """Return True if placement accepts a trait of this name.

    Some releases of Ironic accept a custom trait that ends in a newline.
    """
    try:
        names.check_symbol(trait, 'trait')
    except errors.InvalidName:
        return False
    return True
