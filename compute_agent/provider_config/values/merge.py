# SPDX-License-Identifier: Apache-2.0
"""Assert the entries of operators' files onto a node's tree.

Pure: no I/O, configuration, logging or clock. Each file is a source. The merge
runs after the driver, so it finds the providers that the driver created and
the names that the driver asserts itself. A file declares all its names for a
provider. So its claims on names that it no longer has end, no matter if a
name, an entry or the whole file was deleted.
"""

import dataclasses
from collections.abc import Collection, Sequence

from ...ownership.beside_nova import companion
from ...ownership.record import Record
from ...tree import assertion, inventory, provider, provider_tree
from ...tree.assertion import Claims, Kind
from ...tree.inventory import Record as InventoryRecord
from .entry import Entries, Entry


def merge(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
    entries: Entries,
    *,
    is_companion: bool = False,
) -> Sequence[Entry]:
    """Assert the entries for this tree's providers; return those entries.

    :param tree: the node's tree as the driver described it
    :param record: the record of all providers in the tree
    :param is_companion: nova-compute reports the node, and the files give
        inventory to this agent's own children only
    """
    if not (entries or _has_claims(record)):
        return ()
    run = _Merge(tree, node_uuid, record, is_companion=is_companion)
    found = run.matching(entries)
    for uuid, entry in found:
        run.add(uuid, entry)
    run.declare()
    return [entry for _, entry in found]


def _has_claims(record: Record) -> bool:
    """Return True if a file claims, or claimed, names of these providers."""
    return any(
        assertion.is_file(source)
        for claims in record.claims.values()
        for source in claims
    )


@dataclasses.dataclass(slots=True)
class _Additions:
    """The names that one file has for one provider."""

    traits: set[str] = dataclasses.field(default_factory=set)
    inventories: dict[str, InventoryRecord] = dataclasses.field(
        default_factory=dict
    )

    def kinds(self) -> set[Kind]:
        """Return the kinds of these names."""
        given = {Kind.TRAIT: self.traits, Kind.INVENTORY: self.inventories}
        return {kind for kind, names in given.items() if names}


class _Merge:
    """Merge provider-config entries into the tree of one node."""

    def __init__(
        self,
        tree: provider_tree.ProviderTree,
        node_uuid: str,
        record: Record,
        *,
        is_companion: bool,
    ) -> None:
        self._is_companion = is_companion
        self._tree = tree
        self._root = node_uuid
        self._record = record
        self._own_tree = frozenset(tree.get_provider_uuids(node_uuid))
        self._first_entries: dict[str, Entry] = {}
        # By file and provider.
        self._additions: dict[tuple[str, str], _Additions] = {}

    def matching(self, entries: Entries) -> list[tuple[str, Entry]]:
        """Return the matching entries, each with its provider's uuid."""
        found = [
            (uuid, entry)
            for uuid in self._tree.get_provider_uuids()
            for entry in entries.for_provider(uuid, self._tree.data(uuid).name)
        ]
        explicit = {uuid for uuid, _ in found}
        if entries.every_root is not None and self._root not in explicit:
            found.append((self._root, entries.every_root))
        return found

    def add(self, uuid: str, entry: Entry) -> None:
        """Add one entry to the names of its file for the provider."""
        taken = self._taken_classes(uuid, entry)
        added = self._additions.setdefault((entry.source, uuid), _Additions())
        added.traits.update(entry.traits)
        added.inventories |= {
            rc: record
            for rc, record in entry.inventories.items()
            if rc not in taken and self._is_free(uuid, rc, entry)
        }

    def declare(self) -> None:
        """Declare the names of each file, also where it has none any more."""
        claimed = self._claims()
        wanted = {
            (source, uuid): {*added.kinds(), *claimed.pop((source, uuid), ())}
            for (source, uuid), added in self._additions.items()
        }
        for (source, uuid), kinds in sorted((wanted | claimed).items()):
            added = self._additions.get((source, uuid), _Additions())
            with self._tree.asserting(source):
                self._declare(uuid, kinds, added)
        for key, claims in sorted(self._record.claims.items()):
            if any(map(assertion.is_file, claims)) and self._tree.exists(
                key[0]
            ):
                self._note_remaining(*key, claims)

    def _claims(self) -> dict[tuple[str, str], set[Kind]]:
        """Return the kinds of the names that each file claimed until now."""
        claimed: dict[tuple[str, str], set[Kind]] = {}
        for (uuid, kind), claims in self._record.claims.items():
            for source, names in claims.items():
                if (
                    names
                    and assertion.is_file(source)
                    and self._tree.exists(uuid)
                ):
                    claimed.setdefault((source, uuid), set()).add(kind)
        return claimed

    def _declare(
        self, uuid: str, kinds: Collection[Kind], added: _Additions
    ) -> None:
        if Kind.TRAIT in kinds:
            self._tree.declare_traits(uuid, *added.traits)
        if Kind.INVENTORY in kinds:
            records = inventory.as_given(added.inventories)
            self._tree.declare_inventory(uuid, records)

    def _taken_classes(self, uuid: str, entry: Entry) -> Collection[str]:
        """Return the classes that an earlier entry gave this provider.

        A provider has two entries only if one has its uuid and the other its
        name.
        """
        first = self._first_entries.setdefault(uuid, entry)
        if first is entry:
            return ()
        self._tree.fault(
            f'{self._title(uuid)}: two entries match it, {first.at()} and '
            f'{entry.at()}; put all additions into one entry'
        )
        return first.inventories.keys()

    def _is_free(self, uuid: str, rc: str, entry: Entry) -> bool:
        """True if no other source reports this class; else add a fault."""
        if self._is_novas(uuid):
            self._tree.fault(
                f'{self._title(uuid)}: {rc} at '
                f'{entry.at(entry.lines_of_classes[rc])} is not applied, '
                'because nova-compute alone sets the inventory of its '
                'providers; remove it from the file, or, if nova-compute reads '
                'this directory too, give the agent one of its own '
                '([compute] provider_config_location)'
            )
            return False
        if rc not in self._driver_classes(uuid):
            return True
        self._tree.fault(
            f'{self._title(uuid)}: {rc} at '
            f'{entry.at(entry.lines_of_classes[rc])} is not applied, because '
            'the driver reports that class itself; remove it from the file'
        )
        return False

    def _is_novas(self, uuid: str) -> bool:
        """True for the root and others' children, beside nova-compute."""
        return (
            self._is_companion
            and uuid in self._own_tree
            and (
                uuid == self._root
                or not companion.is_own(self._tree, self._record, uuid)
            )
        )

    def _driver_classes(self, uuid: str) -> frozenset[str]:
        """Return the classes that a driver claims, for any node."""
        key = (uuid, assertion.Kind.INVENTORY)
        asserted = self._tree.assertions.get(key, {})
        others = self._record.others.get(key, {}).items()
        before = self._record.claims.get(key, {}).items()
        claimed = [
            *((source, names) for (source, _), names in others),
            *((s, a.names | a.disputed) for s, a in asserted.items()),
            *(
                (source, names)
                for source, names in before
                if source not in asserted or not asserted[source].ends_claims
            ),
        ]
        return frozenset[str]().union(
            *(n for source, n in claimed if assertion.is_driver(source))
        )

    def _note_remaining(
        self, uuid: str, kind: assertion.Kind, claims: Claims
    ) -> None:
        """Note other writers' names that a file claimed and no longer has."""
        key = (uuid, kind)
        before = self._tree.baseline.get(uuid)
        if before is None:
            return
        ours = self._record.ours.get(key, frozenset())
        unclaimed = before.names_of(kind) - ours
        unclaimed -= self._still_claimed(key, claims)
        for source, claimed in sorted(claims.items()):
            remaining = sorted(claimed & unclaimed)
            if assertion.is_file(source) and remaining:
                self._tree.note(
                    f'{before}: keeps {", ".join(remaining)}, which '
                    f'{source.removeprefix(assertion.FILE_PREFIX)} no longer '
                    'has, because this agent did not add it; if it should '
                    'go, remove it with "sync --prune"'
                )

    def _still_claimed(self, key: assertion.Key, claims: Claims) -> set[str]:
        """Return the names that a source asserts or still claims."""
        asserted = self._tree.assertions.get(key, {})
        still = {name for a in asserted.values() for name in a.names}
        still |= self._record.claimed_for_other_nodes(key)
        still |= {
            name
            for source, claimed in claims.items()
            if source not in asserted or not asserted[source].ends_claims
            for name in claimed
        }
        return still

    def _title(self, uuid: str) -> str:
        return provider.title(self._tree.data(uuid).name, uuid)
