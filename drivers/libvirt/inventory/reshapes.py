# SPDX-License-Identifier: Apache-2.0
"""Asks for the allocations of a host, and moves them with its inventory.

It asks libvirt for the guests, and only when allocations may have to move. As
long as it cannot tell which guest has what, the classes stay as they are in
placement. ``driver.py`` calls this after the amounts are read.
"""

from compute_agent import errors
from compute_agent.tree import provider_tree

from ..libvirtd import hypervisor
from . import amounts, cpus, guests, moves


class Reshapes:
    """The moves of allocations that a host's options make necessary.

    :ivar waits: the last move could not be made, and is tried again
    """

    def __init__(
        self, libvirt: hypervisor.Hypervisor, sets: cpus.CpuSets
    ) -> None:
        self._libvirt = libvirt
        self._sets = sets
        self.waits = False

    def carried_out(
        self,
        found: amounts.Amounts,
        root: provider_tree.ProviderData,
        allocations: moves.Allocations | None,
    ) -> amounts.Amounts:
        """Return the amounts; VCPU and PCPU are unknown while a move waits.

        :param root: the host's own provider as placement has it
        :param allocations: edited in place
        :raises errors.ReshapeNeeded: allocations may have to move, and are not
            given
        """
        if not moves.is_due(root.inventory, found):
            self.waits = False
            return found
        if allocations is None:
            raise errors.ReshapeNeeded
        try:
            self._move(found, root.uuid, allocations)
        except moves.Waits as exc:
            self.waits = True
            waiting = amounts.Amounts.unread(str(exc), moves.VCPU, moves.PCPU)
            return amounts.Amounts.joined([found, waiting])
        self.waits = False
        return found

    def _move(
        self,
        found: amounts.Amounts,
        root: str,
        allocations: moves.Allocations,
    ) -> None:
        if not moves.consumers(allocations, root):
            return
        try:
            known = guests.read(self._libvirt.domains())
        except hypervisor.Unanswered as exc:
            raise moves.Waits(
                'PCPU is not reported yet: which guests have pinned '
                f'processors is unknown, because {exc}'
            ) from exc
        moves.move(
            allocations,
            root,
            known,
            self._sets,
            keeps_vcpu=moves.VCPU in found.known,
        )
