# SPDX-License-Identifier: Apache-2.0
"""The described trees: what each node should have, by all its sources.

The drivers, the operators' files and the agent itself edit a copy of the
observed tree, in this order. ``driver_turns.py`` has the drivers describe the
node, ``describe.py`` speaks to one of them; ``node/node_planner.py`` asks for the
descriptions, from several threads.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from ... import errors
from ...ownership import policy, several_drivers, taken_away
from ...ownership.beside_nova import companion, given_up, reporter
from ...ownership.record import NOTHING, Record
from ...plan import allocations as alloc
from ...plan.observation import Observation
from ...provider_config.files import ProviderConfigFiles
from ...state.records import Records
from ...tree import host_inventory
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from ...virt import driver_calls
from .. import node_list
from ..values.report_client import ReportClient
from . import describe, driver_turns

# The facts of each driver of a node, by its source.
Facts: TypeAlias = Mapping[str, object]


class ReadsNothing(Exception):
    """A plan that is made ahead needs what must be read for it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The description of a node.

    :ivar moves: the allocations as the drivers moved them; None without a
        reshape
    :ivar authority: the traits that each driver alone decides, by source
    :ivar is_complete: True if no driver failed
    """

    tree: ProviderTree
    moves: tuple[alloc.Move, ...] | None
    authority: Mapping[str, Sequence[str]]
    is_complete: bool


class Descriptions:
    """Describes the nodes of an agent's drivers.

    :param files: the operators' additions to the driver's descriptions
    :param reserved: the part of a host that is not for its guests
    :param mode: the agent's part for its nodes
    :ivar mark: the agent's mark for their roots; empty if roots get no mark
    """

    def __init__(
        self,
        nodes: node_list.NodeList,
        client: ReportClient,
        records: Records,
        *,
        files: ProviderConfigFiles | None,
        reserved: host_inventory.Reserved,
        mode: policy.Mode = policy.Mode.OWNER,
    ) -> None:
        self._nodes = nodes
        self._client = client
        self._records = records
        self._files = files
        self._reserved = reserved
        self._mode = mode
        self.mark = ''

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

    def facts(self, node: Node, seen: Observation) -> Facts | None:
        """Return the facts the description depends on; None if unknown.

        :raises errors.DriverError: the only driver failed
        """
        by = self._nodes.described_by(node)
        if by.failed or self._is_claimed_by_absent(by, node, seen):
            return None
        found = {}
        try:
            for one in by.listing:
                with driver_calls.timed(one.called, 'facts'):
                    told = describe.facts(one.driver, node)
                if told is None:
                    return None
                found[one.source] = told
        except errors.DriverError as exc:
            by.spare(exc)
            return None
        return found

    def equal(self, node: Node, facts: Facts, others: Facts) -> bool:
        """Return True if the facts of all drivers are the same or equal.

        :raises errors.DriverError: the only driver's cannot be compared
        """
        by = self._nodes.described_by(node)
        try:
            return facts.keys() == others.keys() and all(
                describe.equal(
                    one.driver, node, facts[one.source], others[one.source]
                )
                for one in by.listing
            )
        except errors.DriverError as exc:
            by.spare(exc)
            return False

    def authority(self, node: Node) -> Mapping[str, Sequence[str]]:
        """Return the traits that each driver of a node alone decides now.

        :raises errors.DriverError: the only driver failed
        """
        by, found = self._nodes.described_by(node), {}
        for one in by.listing:
            try:
                given = describe.authority(one.driver, node)
                found[one.source] = policy.check_authority(given)
            except errors.DriverError as exc:
                by.spare(exc)
        return found

    def describe(
        self, node: Node, seen: Observation, *, asks: bool = True
    ) -> Described:
        """Return the tree as drivers, operators' files and agent describe it.

        :param asks: False to ask placement nothing
        :raises errors.DriverError: no driver could describe the node
        :raises ReadsNothing: a driver needs the allocations
        """

        def ask() -> alloc.Allocations:
            if not asks:
                raise ReadsNothing
            return self._client.allocations(seen)

        turns = driver_turns.DriverTurns(
            node,
            seen,
            self._nodes.described_by(node),
            reserved=self._reserved,
            recorded=lambda: self._recorded(node, seen),
            ask=ask,
        )
        tree = turns.run()
        if tree.exists(node.uuid):
            uuids = {*seen.providers, *tree.get_provider_uuids()}
            record = self._record(uuids, node, seen)
            is_companion = self._mode is policy.Mode.COMPANION
            turns.settle_absent(tree, record, is_companion=is_companion)
            if self._files is not None:
                self._files.merge(tree, node.uuid, record)
            match self._mode:
                case policy.Mode.COMPANION:
                    companion.confine(tree, node.uuid, record)
                case policy.Mode.REPORTER:
                    describe.assert_own_traits(tree, node, record, self.mark)
                    reporter.confine(tree, node.uuid)
                case policy.Mode.OWNER:
                    describe.assert_own_traits(tree, node, record, self.mark)
            taken_away.leave(tree, node.uuid, record)
        moved = turns.allocations
        return Described(
            tree=tree,
            moves=None if moved is None else moved.moves(),
            authority=turns.authority,
            is_complete=turns.is_complete,
        )

    def _record(
        self, uuids: Collection[str], node: Node, seen: Observation
    ) -> Record:
        """Return the record without what became nova's by a new mode."""
        record = self._records.record(uuids, node.uuid)
        given = given_up.of_mode(self._mode, record, node.uuid, seen.providers)
        if given == NOTHING:
            return record
        self._records.give_up(node.uuid, given)
        return self._records.record(uuids, node.uuid)

    def _recorded(self, node: Node, seen: Observation) -> Record:
        return self._records.record(seen.providers, node.uuid)

    def _is_claimed_by_absent(
        self, by: node_list.DescribedBy, node: Node, seen: Observation
    ) -> bool:
        """Return True if a driver that does not list the node claims names."""
        if len(by.listing) == len(by.drivers):
            return False
        claimants = several_drivers.claimants(self._recorded(node, seen))
        return not claimants <= {one.source for one in by.listing}
