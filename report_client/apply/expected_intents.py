# SPDX-License-Identifier: Apache-2.0
"""Where a plan's writes lead: the intents that are written down before them.

Pure: no I/O, configuration, logging or clock. A write moves its provider one
generation on; a reshape moves several, each by more than one, and says nothing
of it: what is known of that is here. It is used to tell, after a crash, what
was done; what is there is read.
"""

from collections.abc import Collection, Iterable, Iterator

from compute_agent.tree import assertion, provider
from compute_agent.tree.intents import Intent

from ..operations import operations as ops

Intents = tuple[Intent, ...]


def intents(
    node_uuid: str,
    operations: Iterable[ops.Operation],
    before: provider.Snapshot,
    written: Collection[str] = (),
) -> Iterator[tuple[ops.Operation, Intents]]:
    """Yield each operation of a node's plan with what it intends, in order.

    :param before: the providers as they stand when the first one is sent
    :param written: those that the plan has written to by then
    """
    prospect = _Prospect(node_uuid, before, written)
    for operation in operations:
        match operation:
            case ops.CreateProvider():
                yield operation, (prospect.created(operation.uuid),)
            case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
                yield operation, (prospect.set(operation),)
            case ops.Reshape():
                yield operation, tuple(prospect.reshaped(operation))
            case _:
                yield operation, ()


class _Prospect:
    """The providers' generations and classes as the plan goes on."""

    def __init__(
        self,
        node_uuid: str,
        before: provider.Snapshot,
        written: Collection[str],
    ) -> None:
        self._node_uuid = node_uuid
        self._generations = {
            uuid: one.generation or 0 for uuid, one in before.items()
        }
        self._classes = {
            uuid: frozenset(one.inventories) for uuid, one in before.items()
        }
        self._written = set(written)

    def created(self, uuid: str) -> Intent:
        self._generations[uuid] = 0
        self._written.add(uuid)
        return Intent(
            node_uuid=self._node_uuid, uuid=uuid, kind=None, generation=0
        )

    def set(self, operation: ops.SetOperation, moved: int = 1) -> Intent:
        uuid = operation.uuid
        self._generations[uuid] += moved
        self._written.add(uuid)
        if isinstance(operation, ops.SetInventories):
            self._classes[uuid] = operation.names
        return Intent(
            node_uuid=self._node_uuid,
            uuid=uuid,
            kind=operation.kind,
            generation=self._generations[uuid],
            names=operation.names,
            added=operation.added,
        )

    def reshaped(self, operation: ops.Reshape) -> Iterator[Intent]:
        """Yield what it leaves of each provider that was written to.

        Placement sets an inventory that is not to be empty twice, at first
        beside the old one; and writes the allocations once for each provider
        of which any is sent, changed or not.
        """
        allocated = {u for move in operation.moves for u in move.allocations}
        for one in operation.inventories:
            sets = 2 if one.inventories else 1
            yield self.set(one, sets + (one.uuid in allocated))
        inventories = {one.uuid for one in operation.inventories}
        for uuid in sorted(allocated - inventories):
            if uuid in self._written:
                self._generations[uuid] += 1
                yield Intent(
                    node_uuid=self._node_uuid,
                    uuid=uuid,
                    kind=assertion.Kind.INVENTORY,
                    generation=self._generations[uuid],
                    names=self._classes.get(uuid, frozenset()),
                )
