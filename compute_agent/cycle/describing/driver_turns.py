# SPDX-License-Identifier: Apache-2.0
"""The turns of a node's drivers: each edits the tree after the one before it.

A later driver sees the providers of the earlier ones, so it can hang children
below them; what placement has stays in the tree's ``baseline``. If a driver
fails, its edits are dropped and its claims stay, the changes of the other
drivers are made, and the node does not count as done.
``descriptions.py`` makes the turns; the first driver costs no copy of the tree.
"""

from collections.abc import Callable, Iterator, Sequence

from ... import errors
from ...ownership import policy, several_drivers
from ...ownership.record import Record
from ...plan import allocations as alloc
from ...plan.observation import Observation
from ...tree import assertion, host_inventory
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from ...virt import driver_calls
from ...virt.drivers import NamedDriver
from .. import node_list
from . import describe

_FAILED = (
    '{}; what this driver reported before stays as it is, and the changes of '
    'the other drivers are made'
)


class DriverTurns:
    """The description of one node by its drivers.

    :ivar allocations: as the drivers moved them, if one asked for them
    :ivar authority: the traits that each driver alone decides now
    :param described_by: the drivers that have the node
    :param recorded: returns the record of the observed providers
    :param ask: returns the allocations of the node's tree
    """

    def __init__(
        self,
        node: Node,
        seen: Observation,
        described_by: node_list.DescribedBy,
        *,
        reserved: host_inventory.Reserved,
        recorded: Callable[[], Record],
        ask: Callable[[], alloc.Allocations],
    ) -> None:
        self._node = node
        self._seen = seen
        self._drivers = described_by
        self._reserved = reserved
        self._recorded = recorded
        self._ask = ask
        self._failed = dict(described_by.failed)
        self._amounts = several_drivers.Amounts()
        self._tree: ProviderTree | None = None
        self.allocations: alloc.Allocations | None = None
        self.authority: dict[str, Sequence[str]] = {}

    @property
    def is_complete(self) -> bool:
        """True if no driver failed."""
        return not self._failed

    def run(self) -> ProviderTree:
        """Have each driver describe the node; return the described tree.

        :raises errors.DriverError: no driver could describe it, or placement
            lacks the root and the first driver failed
        :raises errors.Renamed: another writer renamed a provider that the only
            driver looks for by name
        """
        for driver in self._drivers.listing:
            self._check_first()
            try:
                self._turn(driver)
            except (errors.DriverError, errors.Renamed) as exc:
                self._failed[driver.source] = self._drivers.spare(exc)
            if self._tree and not self._tree.exists(self._node.uuid):
                break  # a new node of which nothing is reported for now
        self._check_first()
        if self._tree is None:
            raise errors.DriverError('; '.join(self._reasons()))
        self._amounts.settle(self._tree)
        for reason in self._reasons():
            self._tree.fault(_FAILED.format(reason))
        return self._tree

    def settle_absent(
        self, tree: ProviderTree, record: Record, *, is_companion: bool
    ) -> None:
        """Keep or end the claims of the drivers that had no turn.

        As a companion, the agent leaves the children of such a driver alone:
        nova-compute may have taken them over.
        """
        absent = several_drivers.claimants(record) - self.authority.keys()
        if not absent:
            return
        departed = absent - self._drivers.drivers.sources
        tree.departed |= departed
        ended = departed | {
            one.source
            for one in self._drivers.drivers
            if one.source in absent - self._failed.keys()
            and describe.denies(one.driver, self._node)
        }
        several_drivers.keep(tree, record, absent - ended)
        only = [self._node.uuid] if is_companion else None
        several_drivers.release(tree, record, self._node.uuid, ended, only)

    # --- one turn -------------------------------------------------------------

    def _turn(self, driver: NamedDriver) -> None:
        """Have one driver describe the node, and keep its edits.

        If it asks for the allocations, it describes the node again with them.

        :raises errors.DriverError: the driver failed; its edits are dropped
        """
        given: alloc.Allocations | None = None
        while True:
            tree = self._tree.copy() if self._tree else self._seen.tree()
            tree.own = self._recorded
            timed = driver_calls.timed(driver.called, 'describe')
            try:
                with tree.asserting(driver.source), timed:
                    describe.describe(
                        driver.driver,
                        tree,
                        self._node,
                        self._reserved,
                        None if given is None else given.described,
                    )
                break
            except errors.ReshapeNeeded:
                given = (self.allocations or self._ask()).copy()
        if given is not None:
            given.moves()  # an edit that this driver may not make raises here
        authority = policy.check_authority(
            describe.authority(driver.driver, self._node)
        )
        self._check_removals(driver, tree)
        if self._drivers.drivers.are_several:
            self._amounts.note(tree, driver.source)
        self._tree, self.allocations = tree, given or self.allocations
        self.authority[driver.source] = authority

    def _check_removals(self, driver: NamedDriver, tree: ProviderTree) -> None:
        """Refuse a driver that removed a provider of another.

        :raises errors.DriverError: the driver removed or replaced such a
            provider
        """
        if not self._drivers.drivers.are_several:
            return
        found = several_drivers.removed_of_others(
            self._tree or self._seen.tree(),
            tree,
            driver.source,
            self._recorded(),
            self._drivers.drivers.sources,
        )
        if found:
            title, other = found
            raise errors.DriverError(
                f'{driver.class_name} removed or replaced {title}, of which '
                f'{other} reports something: a driver removes only providers '
                'that no other driver describes'
            )

    # --- failures -------------------------------------------------------------

    def _check_first(self) -> None:
        """Refuse to create the root if the driver that describes it failed.

        :raises errors.DriverError: the first driver of the node failed
        """
        if not self._failed or self._node.uuid in self._seen.providers:
            return
        first = next(iter(self._drivers.concerned()))
        if first.source in self._failed:
            raise errors.DriverError('; '.join(self._reasons()))

    def _reasons(self) -> Iterator[str]:
        """Yield a line for each driver that failed."""
        for source, why in self._failed.items():
            yield f'{assertion.title(source)}: {why}'
