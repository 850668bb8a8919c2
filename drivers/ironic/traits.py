# SPDX-License-Identifier: Apache-2.0
"""The traits that a node has in placement.

Pure: no I/O, configuration, logging or clock. They are the node's traits in
Ironic (seed 002) and what a bare-metal driver can do with any node. A trait
that cannot go to placement is left out alone: the others do not wait for it.
"""

from collections.abc import Mapping

from compute_agent import errors
from compute_agent.tree import names

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

_OF_OTHERS = (
    'it is for who disables a compute service; use maintenance instead'
)
_NO_NAME = (
    f'placement takes 1 to {names.MAX_NAME} of the characters A-Z, 0-9 and _'
)


def reported(node: ironic.Node) -> frozenset[str]:
    """Return the traits to be reported of this node."""
    return node.traits.union(CAPABILITIES).difference(left_out(node))


def left_out(node: ironic.Node) -> Mapping[str, str]:
    """Return the node's traits in Ironic that are not reported, and why."""
    return {
        trait: _OF_OTHERS if trait in NEVER else _NO_NAME
        for trait in sorted(node.traits)
        if trait in NEVER or not _is_name(trait)
    }


def _is_name(trait: str) -> bool:
    """Whether placement could have a trait of this name.

    Some releases of Ironic take a custom trait with a newline at its end.
    """
    try:
        names.check_symbol(trait, 'trait')
    except errors.InvalidName:
        return False
    return True
