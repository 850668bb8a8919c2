# SPDX-License-Identifier: Apache-2.0
"""Asserts what operators' files say onto a node's tree, each file a source.

Pure: no I/O, configuration, logging or clock. It runs after the driver, so it
finds what the driver has made and knows what the driver asserts itself. A
file that held something on a provider and does not name it now visits with
nothing, whether the entry, the name or the whole file is gone.
"""

from collections.abc import Collection

from ..ownership.record import Record
from ..tree import assertion, intents, provider, provider_tree
from ..tree.assertion import Claims
from .entries import Entries, Entry


def merge(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
    entries: Entries,
) -> list[Entry]:
    """Assert the entries that are of this tree's providers; return those.

    :param tree: has the node's root, and the driver's word
    :param record: of all providers in the tree
    """
    merging = _Merging(tree, node_uuid, record)
    found = merging.found(entries)
    for uuid, entry in found:
        merging.add(uuid, entry)
    merging.leave()
    return [entry for _, entry in found]


class _Merging:
    """One node's merge."""

    def __init__(
        self,
        tree: provider_tree.ProviderTree,
        node_uuid: str,
        record: Record,
    ) -> None:
        self._tree = tree
        self._root = node_uuid
        self._record = record
        self._home = frozenset(tree.get_provider_uuids(node_uuid))
        self._met: dict[str, Entry] = {}

    def found(self, entries: Entries) -> list[tuple[str, Entry]]:
        """Return the entries that match, each with its provider's uuid."""
        found = [
            (uuid, entry)
            for uuid in self._tree.get_provider_uuids()
            for entry in entries.of(uuid, self._tree.data(uuid).name)
        ]
        explicit = {uuid for uuid, _ in found}
        if entries.every_root is not None and self._root not in explicit:
            found.append((self._root, entries.every_root))
        return found

    def add(self, uuid: str, entry: Entry) -> None:
        """Assert one entry onto its provider."""
        if not self._may_write(uuid):
            self._tree.note(
                f'{self._title(uuid)}: nothing of {entry.at()} is written, '
                'for it is a sharing provider that this agent did not '
                'create; write its traits and inventories by hand, or in '
                'the files of the agent that did'
            )
            return
        taken = self._taken(uuid, entry)
        with self._tree.asserting(entry.source):
            if entry.traits:
                self._tree.add_traits(uuid, *entry.traits)
            for rc, inventory in entry.inventories.items():
                if rc not in taken and self._is_free(uuid, rc, entry):
                    self._tree.add_inventory(uuid, rc, inventory)

    def leave(self) -> None:
        """Let each file that held something visit where it says no more."""
        for (uuid, kind), claims in sorted(self._record.claims.items()):
            if not self._tree.exists(uuid) or not self._may_write(uuid):
                continue
            for source, some in sorted(claims.items()):
                if some and source.startswith(assertion.FILE_PREFIX):
                    with self._tree.asserting(source):
                        self._tree.visit(uuid, kind)
            self._note_left(uuid, kind, claims)

    def _taken(self, uuid: str, entry: Entry) -> Collection[str]:
        """Return the classes that an earlier entry gave this provider.

        There is none but where one says its uuid and the other its name.
        """
        first = self._met.setdefault(uuid, entry)
        if first is entry:
            return ()
        self._tree.fault(
            f'{self._title(uuid)}: {first.at()} and {entry.at()} both '
            'describe it; keep one of the two and put all into it'
        )
        return first.inventories.keys()

    def _may_write(self, uuid: str) -> bool:
        """In the node's own tree, or of our making."""
        ours = uuid in self._record.created or uuid not in self._tree.baseline
        return uuid in self._home or ours

    def _is_free(self, uuid: str, rc: str, entry: Entry) -> bool:
        """Whether the driver leaves this class to others; if not, say so."""
        if rc not in self._of_driver(uuid):
            return True
        self._tree.fault(
            f'{self._title(uuid)}: {rc} of '
            f'{entry.at(entry.lines_of_classes[rc])} is not written, for the '
            'driver reports that class itself and its value stands; take it '
            'out of the file'
        )
        return False

    def _of_driver(self, uuid: str) -> frozenset[str]:
        """Return the classes that the driver holds, for any node."""
        key = (uuid, assertion.Kind.INVENTORY)
        said_by = assertion.DRIVER
        said = self._tree.assertions.get(key, {}).get(said_by)
        claims = self._record.others.get(key, {}).items()
        some = [names for (source, _), names in claims if source == said_by]
        if said is not None:
            some.append(said.names)
        if said is None or said.keep:
            before = self._record.claims.get(key, {})
            some.append(before.get(said_by, frozenset()))
        return frozenset[str]().union(*some)

    def _note_left(
        self, uuid: str, kind: assertion.Kind, claims: Claims
    ) -> None:
        """Say what stays although no file names it: it was there before."""
        key = (uuid, kind)
        said = self._tree.assertions.get(key, {})
        before = self._tree.baseline.get(uuid)
        if before is None:
            return
        ours = self._record.ours.get(key, frozenset())
        still = {name for one in said.values() for name in one.names}
        still |= self._record.claimed_for_other_nodes(key)
        still |= {
            name
            for source, some in claims.items()
            if source not in said or said[source].keep
            for name in some
        }
        for source, some in sorted(claims.items()):
            there = some & intents.carried(before, kind) - still - ours
            if source.startswith(assertion.FILE_PREFIX) and there:
                self._tree.note(
                    f'{before}: keeps {", ".join(sorted(there))}, which '
                    f'{source.removeprefix(assertion.FILE_PREFIX)} no longer '
                    'gives it, for this agent did not add it: remove it '
                    'if it should go ("sync --prune")'
                )

    def _title(self, uuid: str) -> str:
        return provider.title(self._tree.data(uuid).name, uuid)
