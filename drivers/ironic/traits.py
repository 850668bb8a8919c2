# SPDX-License-Identifier: Apache-2.0
"""The traits that a node has in placement.

Pure: no I/O, configuration, logging or clock. They are the node's traits in
Ironic (seed 002) and what a bare-metal driver can do with any node.
"""

from compute_agent import names

from . import node as ironic

# What nova's Ironic driver says of itself (nova.virt.ironic.driver,
# ``capabilities``, by the names of nova.virt.driver, CAPABILITY_TRAITS_MAP),
# so that flavors and images that ask for it find the node with this agent too.
CAPABILITIES = (
    'COMPUTE_IMAGE_TYPE_AMI',
    'COMPUTE_IMAGE_TYPE_QCOW2',
    'COMPUTE_IMAGE_TYPE_RAW',
    'COMPUTE_NET_ATTACH_INTERFACE',
)

# Set by who disables a compute service, and not a property of a node.
NEVER = frozenset({names.COMPUTE_STATUS_DISABLED})


def reported(node: ironic.Node) -> frozenset[str]:
    """Return the traits to be reported of this node."""
    return node.traits.union(CAPABILITIES) - NEVER


def left_out(node: ironic.Node) -> frozenset[str]:
    """Return the node's traits in Ironic that are not reported."""
    return node.traits & NEVER
