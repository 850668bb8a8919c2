# SPDX-License-Identifier: Apache-2.0
"""The intents of a plan: the generations and names after each write.

Pure: no I/O, configuration, logging or clock. The executor records intents
before it sends anything, and after a crash they tell which writes were carried
out. Each operation tells how far it raises a provider's generation
(``advances``); this module adds these up in the plan's order.
"""

from collections.abc import Collection, Iterable, Iterator

from compute_agent.plan.intents import Intent
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.operations import write
from compute_agent.tree import assertion, provider

Intents = tuple[Intent, ...]


def intents(
    node_uuid: str,
    operations: Iterable[ops.Operation],
    before: provider.Snapshot,
    written: Collection[str] = (),
) -> Iterator[tuple[ops.Operation, Intents]]:
    """Yield each operation of a node's plan with its intents, in order.

    :param before: the providers as they are when the first operation is sent
    :param written: the providers that the plan has written to by then
    """
    expected = _Expected(node_uuid, before, written)
    for operation in operations:
        yield operation, tuple(expected.after(operation))


class _Expected:
    """The providers' generations and classes after each step of the plan."""

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

    def after(self, operation: ops.Operation) -> Iterator[Intent]:
        """Yield the intents of the next operation."""
        for advance in operation.advances():
            uuid = advance.uuid
            if advance.names is None and uuid not in self._written:
                continue
            yield self._intent(advance)
            self._written.add(uuid)

    def _intent(self, advance: write.Advance) -> Intent:
        uuid = advance.uuid
        generation = self._generations.get(uuid, 0) + advance.raises
        self._generations[uuid] = generation
        names = advance.names
        if names is None:
            names = self._classes.get(uuid, frozenset())
        elif advance.kind is assertion.Kind.INVENTORY:
            self._classes[uuid] = names
        return Intent(
            node_uuid=self._node_uuid,
            uuid=uuid,
            kind=advance.kind,
            generation=generation,
            names=names,
            added=advance.added,
        )
