# SPDX-License-Identifier: Apache-2.0
"""The numbers of what cycles did to placement: writes, removals and drift.

Pure: no I/O, configuration, logging or clock. ``metrics.py`` adds them to its
counters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ...cycle.node.node_result import NodeResult
from ...plan.change import Change
from ...plan.operations.operations import Operation
from ...tree import assertion

PROVIDER = 'provider'
UNKNOWN = 'unknown'


def write_kind(operation: type) -> str:
    """Return the kind of a write: ``SetTraits`` is ``set_traits``."""
    return re.sub(r'(?<!^)(?=[A-Z])', '_', operation.__name__).lower()


def writes(results: Iterable[NodeResult]) -> Counter[str]:
    """Return the number of operations that were carried out, by kind."""
    return Counter(
        write_kind(type(operation))
        for result in results
        for operation in result.applied
    )


def removals(results: Iterable[NodeResult]) -> Counter[tuple[str, str]]:
    """Return the number of removed names and providers, by kind and cause.

    A name counts if the last write to the name removes it.
    """
    return Counter(
        (_kind(change), change.cause.reason.value if change.cause else UNKNOWN)
        for result in results
        for change in _last_changes(result.applied)
        if change.is_removal
    )


class Drift:
    """The changes by other writers that the agent undoes.

    A change is found once, however many cycles it takes until it is undone.
    """

    def __init__(self) -> None:
        self._open: dict[str, frozenset[assertion.Named]] = {}

    def end_cycle(
        self, results: Sequence[NodeResult]
    ) -> tuple[Counter[str], Counter[str]]:
        """Return the changes found and those undone in a cycle, by kind."""
        found, undone = Counter[str](), Counter[str]()
        still: dict[str, frozenset[assertion.Named]] = {}
        for result in results:
            uuid = result.node.uuid
            known = self._open.get(uuid, frozenset())
            if result.plan is None:
                still[uuid] = known
                continue
            drift = result.plan.restored
            written = {
                (change.uuid, change.kind, change.name)
                for change in _last_changes(result.applied)
            }
            found.update(kind.value for _, kind, _ in drift - known)
            undone.update(kind.value for _, kind, _ in drift & written)
            still[uuid] = drift - written
        self._open = {uuid: items for uuid, items in still.items() if items}
        return found, undone


def _last_changes(applied: Iterable[Operation]) -> list[Change]:
    """Return the last change of each name and provider."""
    last: dict[object, Change] = {}
    for operation in applied:
        for change in operation.changes():
            last[change.uuid, change.kind, change.name] = change
    return list(last.values())


def _kind(change: Change) -> str:
    return PROVIDER if change.kind is None else change.kind.value
