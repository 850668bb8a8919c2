# SPDX-License-Identifier: Apache-2.0
"""The notes about names that stay, are masked, or are restored.

Pure: no I/O, configuration, logging or clock. ``resolve.py`` has one ``Notes``
for each node, and tells it each decision.

``older_record`` recognizes a state database that is older than placement. If a
host, or its state database, is restored from a copy, placement has changes that
the agent made and does not know. They look like another writer's, so nothing of
them is removed. Two signs tell such a database from one that is new and from
the changes of others: names that others seem to have added since the last
reading and that a source of this agent begins to report, and children with the
uuids that the agent derives. The planner asks once for each node.
"""

import shlex
from collections.abc import Collection, Container, Mapping

from ... import error_text
from ...tree import assertion, provider, provider_tree
from ...tree.assertion import Kind
from .. import claims, undeletable
from ..policy import Policy
from ..record import Record

_TAKEN_OVER = (
    '{}: existed before this agent, and keeps {}: if these should go, run '
    '"sync --prune"; if another agent reported them, import its record '
    '("state import")'
)
_DROPPED = (
    '{}: keeps {}, which the driver no longer reports, because this agent did '
    'not add it; if it should go, run "sync --prune"'
)
_MASKED = '{}: not reported, masked by [compute_agent] masked_traits: {}'
_RESTORED = '{}: removed by {}, and restored: {}'
_CHANGED = '{}: changed by {}, and restored: {}'
_OTHERS = 'another writer'
_RENAMED = (
    '{0}: not written, because the driver calls it {1} and this agent did not '
    'create it; if it should have that name, run "compute-agent resource '
    'provider rename {2} {3}"'
)


#: Restored name → the person who changed it; empty or missing if another
# writer did.
Authors = Mapping[assertion.Named, str]
NO_AUTHORS: Authors = {}


class Notes:
    """The notes about one node's providers, in the order of the decisions.

    :ivar lines: the notes
    :ivar restored: the names that other writers took away or changed, and
        that are restored: the provider's uuid, the kind and the name of each
    """

    def __init__(
        self,
        record: Record,
        policy: Policy,
        home: Container[str],
        authors: Authors,
    ) -> None:
        """Begin without notes.

        :param home: the uuids of the providers in the node's own tree
        """
        self.lines: list[str] = []
        self.restored: set[assertion.Named] = set()
        self._record = record
        self._policy = policy
        self._home = home
        self._authors = authors

    def renamed(self, one: provider.Provider, name: str) -> None:
        """Note that a provider is not written: the driver has another name."""
        quoted = shlex.quote(name)
        self.lines.append(_RENAMED.format(one, name, one.uuid, quoted))

    def decided(
        self,
        one: provider.Provider,
        inputs: claims.Inputs,
        decision: claims.Decision,
    ) -> None:
        """Note which names of one kind stay, are masked, or come back."""
        if decision.unclaimed:
            self._unclaimed(one, inputs, decision.unclaimed)
        self._add(_MASKED, one, decision.masked)
        self._restored(_RESTORED, one, inputs.kind, decision.restored)

    def changed(self, one: provider.Provider, classes: frozenset[str]) -> None:
        """Note the classes whose records another writer changed."""
        self._restored(_CHANGED, one, Kind.INVENTORY, classes)

    def _restored(
        self,
        line: str,
        one: provider.Provider,
        kind: Kind,
        names: frozenset[str],
    ) -> None:
        """Note the names that are restored, which contended ones are not."""
        if names:
            contended = {
                item.name
                for item in self._policy.contended
                if (item.uuid, item.kind) == (one.uuid, kind) and item.there
            }
            by_author: dict[str, set[str]] = {}
            for name in names - contended:
                named = (one.uuid, kind, name)
                author = self._authors.get(named) or _OTHERS
                by_author.setdefault(author, set()).add(name)
                self.restored.add(named)
            for author, found in sorted(by_author.items()):
                listed = ', '.join(sorted(found))
                self.lines.append(line.format(one, author, listed))

    def _unclaimed(
        self,
        one: provider.Provider,
        inputs: claims.Inputs,
        unclaimed: frozenset[str],
    ) -> None:
        """Note once the names that become unclaimed and stay.

        A driver that only adds and removes single names means the others to
        stay.
        """
        if self._policy.leaves:
            return
        if self._policy.is_companion and one.uuid not in self._record.created:
            return  # no advice to remove what may be nova's
        if not any(
            asserted.ends_claims or asserted.keep
            for source, asserted in inputs.assertions.items()
            if assertion.is_driver(source)
        ):
            return
        if self._takes_over(one.uuid, inputs):
            self._add(_TAKEN_OVER, one, unclaimed)
        else:
            reported = claims.union(
                names
                for source, names in inputs.claims.items()
                if assertion.is_driver(source)
            )
            self._add(_DROPPED, one, unclaimed & reported)

    def _takes_over(self, uuid: str, inputs: claims.Inputs) -> bool:
        """Return True if the driver reports the provider's first traits.

        The provider is in the node's own tree, and has traits of the writer
        that created it.
        """
        return (
            inputs.kind is Kind.TRAIT
            and uuid in self._home
            and uuid not in self._record.created
            and not any(map(assertion.is_driver, inputs.claims))
        )

    def _add(
        self, line: str, one: provider.Provider, names: Collection[str]
    ) -> None:
        if names:
            self.lines.append(line.format(one, ', '.join(sorted(names))))


_FEW = 5  # names that the line lists


def older_record(
    tree: provider_tree.ProviderTree, record: Record, node_uuid: str
) -> str | None:
    """Return the line about an older database; None if nothing shows one.

    :param tree: the tree as it was described
    """
    if not any(uuid == node_uuid for uuid, _ in record.claims):
        return None  # the record of the node is new
    found = _names(tree, record) | _children(tree, record)
    if not found:
        return None
    return (
        f'placement has {error_text.listed(found, _FEW)}, as if this agent had added it, '
        'but the state database does not know of it: the database is older '
        'than placement (was the host or the file restored from a copy?), or '
        'another agent reports this node too; the agent removes nothing that '
        'it does not know: if it should go, run "compute-agent sync --prune '
        'NAME", or "compute-agent resource provider adopt UUID" for a provider'
    )


def _names(tree: provider_tree.ProviderTree, record: Record) -> set[str]:
    """Return the names that a source begins to report and that came before.

    The last reading lacks them, and the record does not have them.
    """
    found = set[str]()
    for key, by_source in tree.assertions.items():
        uuid, kind = key
        if uuid not in record.was or uuid not in tree.baseline:
            continue
        reported = claims.union(each.names for each in by_source.values())
        known = (
            record.was[uuid].names_of(kind)
            | claims.union(record.claims.get(key, {}).values())
            | record.claimed_for_other_nodes(key)
            | record.ours.get(key, frozenset())
        )
        found |= (reported & tree.baseline[uuid].names_of(kind)) - known
    return found


def _children(tree: provider_tree.ProviderTree, record: Record) -> set[str]:
    """Return the children that this agent seems to have created."""
    known = record.created | {uuid for uuid, _ in record.claims}
    return {
        one.name
        for uuid, one in tree.baseline.items()
        if uuid not in known and undeletable.is_derived(tree.baseline, uuid)
    }
