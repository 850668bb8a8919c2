# SPDX-License-Identifier: Apache-2.0
"""The providers that a node should have: ownership, contention, use.

``ownership/resolve.py`` decides by the claims; contended items are left as
they are, and names and providers in use are kept. ``node_planner.py`` calls
this, from several threads.
"""

from collections.abc import Collection

from ...limits import contended as contended_items
from ...limits import contention
from ...ownership import policy, resolve
from ...ownership.explanations import notes
from ...ownership.record import Record
from ...plan import allocations as alloc
from ...plan import removal
from ...plan.observation import Observation
from ...plan.plan import Wanted
from ...tree.provider_tree import ProviderTree
from . import consumers


class WantedProviders:
    """Decides what nodes should have, and remembers why something goes.

    :param author: says who changed a name that is restored
    """

    def __init__(
        self, in_use: consumers.ConsumersInUse, author: notes.Author
    ) -> None:
        self._consumers = in_use
        self._author = author
        # The causes in each node's last plan, while something is removed.
        self._causes: dict[str, removal.Causes] = {}
        # What was found about the age of the record, at each node's first plan.
        self._older: dict[str, str | None] = {}

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget what was found about other nodes."""
        for uuid in self._causes.keys() - set(node_uuids):
            del self._causes[uuid]
        for uuid in self._older.keys() - set(node_uuids):
            del self._older[uuid]

    def decide(
        self,
        tree: ProviderTree,
        seen: Observation,
        record: Record,
        decides: policy.Policy,
        allocations: alloc.Allocations | None,
    ) -> tuple[Wanted, tuple[contention.Item, ...]]:
        """Return the providers that the node should have.

        The contended items that are left as they are come second.
        """
        resolved = resolve.resolve(tree, record, decides, self._author)
        moves = allocations.moves() if allocations is not None else ()
        after, contended = contended_items.without_contended(
            seen.providers, resolved.after, () if moves else decides.contended
        )
        after, faults = self._consumers.keep_used(seen, after, moves)
        wanted = Wanted(
            after=after,
            claims=resolved.claims,
            foreign=resolved.foreign,
            causes=self._with_earlier_causes(decides.node_uuid, resolved),
            moves=moves,
            counted_as=tree.counted_as,
            restored=resolved.restored,
            notes=(
                *seen.notes,
                *tree.notes,
                *resolved.notes,
                *self._about_its_age(tree, record, decides.node_uuid),
            ),
            faults=(*tree.faults, *resolved.faults, *faults),
        )
        return wanted, contended_items.with_suspects(
            contended,
            seen.providers,
            record.ours,
            is_reporter=decides.mode is policy.Mode.REPORTER,
        )

    def _about_its_age(
        self, tree: ProviderTree, record: Record, node_uuid: str
    ) -> tuple[str, ...]:
        """Return the note about a record that is older than placement.

        Later plans only repeat what the first one of this process found: after
        it, the record knows what placement has.
        """
        if node_uuid not in self._older:
            self._older[node_uuid] = notes.older_record(
                tree, record, node_uuid
            )
        found = self._older[node_uuid]
        return (found,) if found else ()

    def _with_earlier_causes(
        self, node_uuid: str, resolved: resolve.Resolution
    ) -> removal.Causes:
        """Return the causes of a plan's removals; remember them.

        An attempt to remove a name ends the recorded claims on it before it is
        sent. If it fails, only the earlier plan tells which source gave the
        name up.
        """
        earlier = self._causes.pop(node_uuid, removal.NO_CAUSES)
        causes = resolved.causes.with_earlier(earlier)
        if causes.names:
            self._causes[node_uuid] = causes
        return causes
