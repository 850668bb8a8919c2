# SPDX-License-Identifier: Apache-2.0
"""Decides which allocations of a host move with its inventory.

It asks libvirt for the guests, and only when allocations may have to move. As
long as it cannot tell which guest has which device, the classes stay as they are
in placement. ``driver.py`` calls this before it edits the tree.
"""

import dataclasses
from collections.abc import Collection, Mapping

from compute_agent import errors
from compute_agent.tree import provider_tree

from ...libvirtd import guests, hypervisor
from ..devices import node_devices
from ..devices.child import Children, Kind
from ..inventory import amounts, cpus, numa
from ..reshapes import child_moves, layouts, moves


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The description of a host after the moves were decided.

    :ivar shares: the amounts that go from the host to children
    """

    amounts: amounts.Amounts
    children: Children
    shares: tuple[child_moves.Share, ...] = ()

    def carry(
        self,
        tree: provider_tree.ProviderTree,
        root: str,
        allocations: moves.Allocations,
    ) -> None:
        """Move the shares, in place.

        :param tree: the tree, with the children
        :param root: the uuid of the host's own provider
        """
        # A guest's processor is VCPU or PCPU, by the options of its host.
        tree.count_as(cpus.PCPU, cpus.VCPU)
        child_moves.carry(self.shares, tree, root, allocations)


class Reshapes:
    """The moves of allocations that a host's options make necessary.

    :ivar waits: a move could not be made, and is tried again
    """

    def __init__(
        self, libvirt: hypervisor.Hypervisor, sets: cpus.CpuSets
    ) -> None:
        self._libvirt = libvirt
        self._sets = sets
        self.waits = False

    def decide(
        self,
        found: amounts.Amounts,
        children: Children,
        root: provider_tree.ProviderData,
        nodes: Mapping[str, str],
        allocations: moves.Allocations | None,
    ) -> Decision:
        """Return the amounts and children; those that must wait are unknown.

        It moves amounts between classes of the host, in place. Its caller
        moves the shares when the children are in the tree.

        :param root: the host's own provider as placement has it
        :param nodes: uuid → name of the NUMA nodes with inventory in placement
        :raises errors.ReshapeNeeded: allocations may have to move, and are not
            given
        """
        self.waits = False
        kept = child_moves.unknown(root.name, root.inventory, children)
        found = amounts.Amounts.joined([found, amounts.Amounts(unknown=kept)])
        leaving = layouts.leaving(root, nodes, children)
        found, children = self._laid_out(found, children, leaving, allocations)
        if layouts.are_both(root, nodes):
            found, children = _reserved(
                found, children, root, nodes, allocations
            )
        pinned = moves.is_due(root.inventory, found)
        classes = child_moves.due(root.inventory, children)
        if not (pinned or classes):
            return Decision(amounts=found, children=children)
        if allocations is None:
            raise errors.ReshapeNeeded
        if pinned:
            found = self._pinned(found, root.uuid, allocations)
        before = Decision(amounts=found, children=children)
        return self._to_children(before, classes, root, allocations)

    def _laid_out(
        self,
        found: amounts.Amounts,
        children: Children,
        leaving: Collection[str],
        allocations: moves.Allocations | None,
    ) -> tuple[amounts.Amounts, Children]:
        """Return both; a new layout is unknown while guests use the old one.

        :param leaving: the uuids of the providers of the old layout
        """
        if not leaving:
            return found, children
        if allocations is None:
            raise errors.ReshapeNeeded
        if not layouts.in_use(allocations, leaving):
            return found, children
        self.waits = True
        joined = amounts.Amounts.joined([found, layouts.WAITS])
        return joined, _without(children, Kind.NUMA)

    def _pinned(
        self,
        found: amounts.Amounts,
        root: str,
        allocations: moves.Allocations,
    ) -> amounts.Amounts:
        if not moves.consumers(allocations, root, cpus.VCPU):
            return found
        try:
            moves.move(
                allocations,
                root,
                self._known(cpus.PCPU),
                self._sets,
                keeps_vcpu=cpus.VCPU in found.known,
            )
        except moves.Waits as exc:
            self.waits = True
            waiting = amounts.Amounts.unread(str(exc), cpus.VCPU, cpus.PCPU)
            return amounts.Amounts.joined([found, waiting])
        return found

    def _to_children(
        self,
        before: Decision,
        classes: Mapping[str, Kind],
        root: provider_tree.ProviderData,
        allocations: moves.Allocations,
    ) -> Decision:
        found, children = before.amounts, before.children
        shares: list[child_moves.Share] = []
        for rc, kind in classes.items():
            try:
                shares += self._shares(rc, kind, root, allocations)
                _check(shares, children)
            except moves.Waits as exc:
                self.waits = True
                shares = [s for s in shares if s.resource_class != rc]
                waiting = amounts.Amounts.unread(str(exc), rc)
                found = amounts.Amounts.joined([found, waiting])
                children = _without(children, kind)
        return Decision(amounts=found, children=children, shares=tuple(shares))

    def _shares(
        self,
        rc: str,
        kind: Kind,
        root: provider_tree.ProviderData,
        allocations: moves.Allocations,
    ) -> list[child_moves.Share]:
        having = moves.consumers(allocations, root.uuid, rc)
        if not having:
            return []
        parents = self._parents(rc) if kind is Kind.MDEV else {}
        return list(
            child_moves.shares(
                root.name,
                {(consumer, rc): n for consumer, n in having.items()},
                {rc: kind},
                self._known(rc),
                parents,
            )
        )

    def _known(self, rc: str) -> Mapping[str, guests.Guest]:
        try:
            return guests.read(self._libvirt.domains())
        except hypervisor.Unanswered as exc:
            raise moves.Waits(_unanswered(rc, exc)) from exc

    def _parents(self, rc: str) -> Mapping[str, str]:
        try:
            devices = node_devices.read(self._libvirt.node_devices())
        except hypervisor.Unanswered as exc:
            raise moves.Waits(_unanswered(rc, exc)) from exc
        return {mdev.uuid: mdev.parent for mdev in devices.mdevs}


def _reserved(
    found: amounts.Amounts,
    children: Children,
    root: provider_tree.ProviderData,
    nodes: Mapping[str, str],
    allocations: moves.Allocations | None,
) -> tuple[amounts.Amounts, Children]:
    """Return both when placement has both layouts: nothing is offered twice.

    The nodes are reserved instead, because the other service would undo a
    reservation on the host. The host is reserved as well if guests use the
    nodes, as it offers their processors again.
    """
    if allocations is None:
        raise errors.ReshapeNeeded
    kept = not (found.known.keys() | found.unknown).isdisjoint(numa.CLASSES)
    is_nested = any(child.kind is Kind.NUMA for child in children.known)
    if not (is_nested or Kind.NUMA in children.unknown_kinds):
        return found, children  # the nodes go
    if kept and layouts.in_use(allocations, nodes):
        found = layouts.reserved_root(found, root.inventory)
    found = amounts.Amounts.joined([found, layouts.BOTH])
    children = _without(children, Kind.NUMA)
    return found, children + layouts.reserved_nodes(nodes.values())


def _unanswered(rc: str, exc: Exception) -> str:
    return (
        f'{rc} is not moved yet: the guests that have it are unknown, because '
        f'{exc}'
    )


def _check(shares: list[child_moves.Share], children: Children) -> None:
    known = {child.name for child in children.known}
    for share in shares:
        if share.child not in known:
            raise moves.Waits(
                f'{share.resource_class} stays on the host itself: guest '
                f'{share.consumer} has it from {share.child}, which is not '
                'reported'
            )


def _without(children: Children, kind: Kind) -> Children:
    """Return the children without those of a kind, which become unknown."""
    return dataclasses.replace(
        children,
        known=tuple(c for c in children.known if c.kind is not kind),
        unknown_kinds={**children.unknown_kinds, kind: ''},
    )
