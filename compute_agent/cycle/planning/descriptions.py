# SPDX-License-Identifier: Apache-2.0
"""The described trees: what each node should have, by all its sources.

The driver, the operators' files and the agent itself edit a copy of the
observed tree, in this order. ``describe.py`` speaks to the driver;
``node_planner.py`` asks for the descriptions, from several threads.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Generic

from ... import errors
from ...ownership import moved_away
from ...ownership.beside_nova import companion, given_up
from ...ownership.record import Record
from ...plan import allocations as alloc
from ...plan.observation import Observation
from ...plan.plan import Op
from ...tree import host_inventory
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from ...virt import driver as virt
from .. import report_client
from . import describe


class Descriptions(Generic[Op]):
    """Describes the nodes of one driver.

    :param files: the operators' additions to the driver's descriptions
    :param reserved: the part of a host that is not for its guests
    :param is_companion: True if nova-compute reports the nodes
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        client: report_client.ReportClient[Op],
        records: report_client.Records,
        *,
        files: report_client.Files | None,
        reserved: host_inventory.Reserved,
        is_companion: bool = False,
    ) -> None:
        self._driver = driver
        self._client = client
        self._records = records
        self._files = files
        self._reserved = reserved
        self._is_companion = is_companion

    @property
    def edition(self) -> int:
        """The edition of the operators' files; another one says otherwise."""
        return 0 if self._files is None else self._files.edition

    def begin(self) -> None:
        """Have the operators' files read, for a cycle."""
        if self._files is not None:
            self._files.begin()

    def end(self, node_uuids: Sequence[str]) -> None:
        """Log the entries of the files that match none of these nodes."""
        if self._files is not None:
            self._files.log_unmatched(node_uuids)

    def describe(
        self, node: Node, seen: Observation
    ) -> tuple[ProviderTree, alloc.Allocations | None]:
        """Return the described tree, and the allocations for a reshape."""
        tree = seen.tree()
        try:
            self._describe_with(tree, node, seen, None)
        except errors.ReshapeNeeded:
            tree = seen.tree()
            allocations = self._client.allocations(seen)
            self._describe_with(tree, node, seen, allocations.described)
            return tree, allocations
        return tree, None

    def _describe_with(
        self,
        tree: ProviderTree,
        node: Node,
        seen: Observation,
        allocations: Mapping[str, Any] | None,
    ) -> None:
        """Have driver, operators' files and agent edit the tree."""
        describe.describe(
            self._driver, tree, node, self._reserved, allocations
        )
        if tree.exists(node.uuid):
            uuids = {*seen.providers, *tree.get_provider_uuids()}
            record = self._record(uuids, node)
            if self._files is not None:
                self._files.merge(tree, node.uuid, record)
            if self._is_companion:
                companion.confine(tree, node.uuid, record)
            else:
                describe.assert_own_traits(tree, node, record)
            moved_away.leave(tree, node.uuid, record)

    def _record(self, uuids: Collection[str], node: Node) -> Record:
        """Return the record; give up what an owner had of nova's before."""
        record = self._records.record(uuids, node.uuid)
        if not self._is_companion:
            return record
        given = given_up.given_up(record, node.uuid)
        if given == Record():
            return record
        self._records.give_up(node.uuid, given)
        return self._records.record(uuids, node.uuid)
