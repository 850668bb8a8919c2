# SPDX-License-Identifier: Apache-2.0
"""Calls of a driver that ``make types`` accepts, and some that it refuses.

Nobody runs this. With ``strict``, mypy reports an ignore that it does not need:
so each line with one has a mistake that an author's type checker finds.
"""

from compute_agent.tree.provider_tree import (
    Child,
    InventoryRecord,
    ProviderTree,
)


def right(tree: ProviderTree) -> None:
    """Make calls that are right."""
    record: InventoryRecord = {'total': 8, 'allocation_ratio': 1.5}
    tree.declare_inventory('cn1', {'VCPU': record, 'PCPU': {'total': 4}})
    tree.update_traits('cn1', ['CUSTOM_A'])
    tree.update_traits('cn1', frozenset({'CUSTOM_A'}))
    child: Child = {'inventory': {'VGPU': {'total': 8}}, 'traits': None}
    tree.reconcile_children('cn1', {'cn1_gpu0': child})


def wrong(tree: ProviderTree) -> None:
    """Make calls that a type checker refuses."""
    tree.declare_inventory('cn1', {'VCPU': {'total': 8.0}})  # type: ignore[typeddict-item]
    tree.declare_inventory('cn1', {'VCPU': {'reserved': 8}})  # type: ignore[typeddict-item]
    tree.declare_inventory('cn1', {'VCPU': {'total': 8, 'totl': 8}})  # type: ignore[typeddict-unknown-key]
    tree.update_traits('cn1', 'CUSTOM_A')  # type: ignore[arg-type]
    tree.has_traits('cn1', 'CUSTOM_A')  # type: ignore[arg-type]
    tree.update_aggregates('cn1', 'a uuid')  # type: ignore[arg-type]
    tree.reconcile_children('cn1', {'a': {'inventori': {}}})  # type: ignore[typeddict-unknown-key]
