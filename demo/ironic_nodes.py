# SPDX-License-Identifier: Apache-2.0
"""The nodes of the demo, and their enrollment in Ironic.

A rack has ten nodes of three classes. Nodes of one class differ in their
traits, so that a request by trait makes a difference. The uuid contains the
numbers of rack and node, because placement shows only the uuid of a node.
"""

import dataclasses
from collections.abc import Iterable

from . import ironic_operator


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """A node to enroll."""

    uuid: str
    name: str
    resource_class: str
    traits: frozenset[str]


_GOLD = ('HW_CPU_X86_AVX512F', 'HW_CPU_X86_VMX', 'CUSTOM_NVME')
_SILVER = ('HW_CPU_X86_AVX2', 'HW_CPU_X86_VMX')
_BRONZE = ('HW_CPU_X86_VMX',)
_RACK = (
    ('gold', (*_GOLD, 'CUSTOM_GPU_A100')),
    ('gold', (*_GOLD, 'CUSTOM_GPU_H100')),
    ('silver', (*_SILVER, 'CUSTOM_NVME')),
    ('silver', (*_SILVER, 'CUSTOM_NVME', 'HW_NIC_SRIOV')),
    ('silver', _SILVER),
    ('bronze', (*_BRONZE, 'CUSTOM_NVME')),
    ('bronze', (*_BRONZE, 'HW_NIC_SRIOV')),
    ('bronze', _BRONZE),
    ('bronze', _BRONZE),
    ('bronze', ()),
)


def racks(count: int) -> list[NewNode]:
    """Return ``count`` nodes, rack by rack; the first is ``rack1-node01``."""
    nodes = []
    for number in range(count):
        rack, slot = divmod(number, len(_RACK))
        resource_class, traits = _RACK[slot]
        rack, slot = rack + 1, slot + 1
        nodes.append(
            NewNode(
                uuid=f'{rack:08}-{slot:04}-4000-8000-000000000000',
                name=f'rack{rack}-node{slot:02}',
                resource_class=resource_class,
                traits=frozenset(traits),
            )
        )
    return nodes


def enroll(
    operator: ironic_operator.IronicOperator, nodes: Iterable[NewNode]
) -> int:
    """Make nodes available; return the number that became available.

    A node that has left the state ``enroll`` is not changed.

    :raises errors.AgentError: Ironic refuses a request, or does not answer
    """
    states = {n['name']: n['provision_state'] for n in operator.nodes()}
    due = [n for n in nodes if states.get(n.name, 'enroll') == 'enroll']
    for node in due:
        if node.name not in states:
            operator.create(
                uuid=node.uuid,
                name=node.name,
                resource_class=node.resource_class,
            )
        operator.set_traits(node.name, node.traits)
        operator.provide(node.name)
    return len(due)
