# SPDX-License-Identifier: Apache-2.0
"""A node with VGPUs in use, and a driver that moves them to children.

The fixture ``vgpus_in_use`` is what was there before. Three consumers have
VGPUs: one nothing else, one with disk of a sharing provider in another tree,
one with memory of another node. ``check`` says that they were moved and that
nothing else was touched.
"""

import collections.abc
import pathlib
import typing

import agents
import pytest
from agents import NODE

from compute_agent import errors, testing
from compute_agent.state.state import State
from compute_agent.testing.fixtures import in_process
from compute_agent.tree import provider_tree

# Consumer → what placement says that it has.
Allocations: typing.TypeAlias = collections.abc.Mapping[str, typing.Any]
# Provider → class → amount.
Parts: typing.TypeAlias = dict[str, dict[str, int]]

GPU0 = '33333333-3333-4333-8333-333333333330'
GPU1 = '33333333-3333-4333-8333-333333333331'
SHARE_ROOT = '55555555-5555-4555-8555-555555555550'
SHARE = '55555555-5555-4555-8555-555555555555'
ELSEWHERE = '66666666-6666-4666-8666-666666666666'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
ALONE, WITH_DISK, TWO_NODES, LATE = (
    f'cccccccc-cccc-4ccc-8ccc-ccccccccccc{n}' for n in range(4)
)
RESHAPE = 'POST /reshaper'


def on_the_root(tree: provider_tree.ProviderTree, node: str) -> None:
    tree.update_inventory(node, {'VCPU': {'total': 8}, 'VGPU': {'total': 6}})
    tree.update_aggregates(node, [AGGREGATE])


def on_children(tree: provider_tree.ProviderTree, node: str) -> None:
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.update_aggregates(node, [AGGREGATE])
    for name, uuid in (('gpu0', GPU0), ('gpu1', GPU1)):
        if not tree.exists(uuid):
            tree.new_child(name, node, uuid)
        tree.update_inventory(uuid, {'VGPU': {'total': 3}})
        tree.declare_traits(uuid, 'HW_GPU_API_VULKAN')


def room_by_room(allocations: Allocations) -> None:
    """Move every consumer's VGPUs to the first child with room for them."""
    room = {GPU0: 3, GPU1: 3}
    for one in allocations.values():
        for uuid in room:
            part = one['allocations'].get(uuid, {'resources': {}})
            room[uuid] -= part['resources'].get('VGPU', 0)
    for _, one in sorted(allocations.items()):
        parts = one['allocations']
        here = parts.get(NODE, {'resources': {}})['resources']
        amount = here.pop('VGPU', 0)
        if amount:
            if not here:
                del parts[NODE]
            target = next(uuid for uuid in room if room[uuid] >= amount)
            room[target] -= amount
            parts[target] = {'resources': {'VGPU': amount}}


class Mover(agents.Driver):
    """Moves the VGPUs from the root to the children.

    :ivar move: what it does with the allocations
    """

    def __init__(
        self,
        move: collections.abc.Callable[[Allocations], object] = room_by_room,
    ) -> None:
        super().__init__(on_children)
        self.move = move
        self.given: list[Allocations | None] = []

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Allocations | None = None,
    ) -> None:
        self.given.append(allocations)
        moves = 'VGPU' in provider_tree.data(nodename).inventory
        if moves and allocations is None:
            raise errors.ReshapeNeeded
        self.describe(provider_tree, nodename)
        if moves and allocations is not None:
            self.move(allocations)


def build(
    placement: testing.Placement,
    agent_factory: agents.AgentFactory,
    operator: agents.Operator,
    state: State | pathlib.Path | None = None,
) -> State:
    """Make what was there before; return the state of its agent."""
    operator.create(SHARE_ROOT, 'share-root')
    operator.create(SHARE, 'share', SHARE_ROOT)
    operator.set_inventories({'DISK_GB': {'total': 1000}}, SHARE)
    operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=SHARE)
    operator.set_aggregates(AGGREGATE, uuid=SHARE)
    operator.create(ELSEWHERE, 'node-2')
    operator.set_inventories({'MEMORY_MB': {'total': 1024}}, ELSEWHERE)
    agent = agent_factory(on_the_root, state=state)
    agent.done()
    allocate(placement, ALONE, {NODE: {'VGPU': 1}})
    allocate(
        placement,
        WITH_DISK,
        {NODE: {'VGPU': 1, 'VCPU': 2}, SHARE: {'DISK_GB': 10}},
    )
    allocate(
        placement,
        TWO_NODES,
        {NODE: {'VGPU': 2}, ELSEWHERE: {'MEMORY_MB': 512}},
    )
    placement.clear()
    return agent.state


@pytest.fixture
def vgpus_in_use(
    placement: testing.Placement,
    agent_factory: agents.AgentFactory,
    operator: agents.Operator,
) -> State:
    """What was there before, and the state of its agent."""
    return build(placement, agent_factory, operator)


def allocate(
    placement: testing.Placement,
    consumer: str,
    parts: Parts,
    **how: typing.Any,
) -> None:
    placement.put(
        f'/allocations/{consumer}',
        {
            'allocations': {u: {'resources': r} for u, r in parts.items()},
            'project_id': 'project',
            'user_id': 'user',
            'consumer_generation': None,
            'consumer_type': 'INSTANCE',
        },
        **how,
    )


def allocated(
    placement: testing.Placement, *consumers: str
) -> dict[str, Parts]:
    """Return what these have: consumer → provider → class → amount."""
    found = {}
    for consumer in consumers or (ALONE, WITH_DISK, TWO_NODES):
        parts = placement.get(f'/allocations/{consumer}')['allocations']
        found[consumer] = {u: p['resources'] for u, p in parts.items()}
    return found


MOVED = {
    ALONE: {GPU0: {'VGPU': 1}},
    WITH_DISK: {
        NODE: {'VCPU': 2},
        GPU0: {'VGPU': 1},
        SHARE: {'DISK_GB': 10},
    },
    TWO_NODES: {GPU1: {'VGPU': 2}, ELSEWHERE: {'MEMORY_MB': 512}},
}
READS = ('traits', 'aggregates', 'inventories')


def check(placement: testing.Placement, operator: agents.Operator) -> None:
    """All is moved, and nothing else is touched."""
    assert allocated(placement) == MOVED
    assert set(operator.inventories()) == {'VCPU'}
    for uuid in (GPU0, GPU1):
        assert operator.inventories(uuid)['VGPU']['total'] == 3
        assert 'HW_GPU_API_VULKAN' in operator.traits(uuid)
    assert operator.inventories(SHARE)['DISK_GB']['total'] == 1000
    assert operator.inventories(ELSEWHERE)['MEMORY_MB']['total'] == 1024


def reshapes(
    placement: testing.Placement,
) -> list[in_process.Request]:
    return [r for r in placement.requests if str(r) == RESHAPE]
