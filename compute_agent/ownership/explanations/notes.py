# SPDX-License-Identifier: Apache-2.0
"""The notes about names that stay, are masked, or are restored.

Pure: no I/O, configuration, logging or clock. ``resolve.py`` has one ``Notes``
for each node, and tells it each decision.
"""

from collections.abc import Callable, Collection, Container

from ...tree import assertion, provider
from ...tree.assertion import Kind
from .. import claims
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
_READ_ONLY = (
    '{0}: not written, because this agent did not create it, although the '
    'driver asserted its {1}; to let this agent write it, run "compute-agent '
    'provider adopt {2}"'
)


#: Returns who changed a name of a provider, empty for another writer.
Author = Callable[[provider.Provider, Kind, str], str]


def unknown_author(_one: provider.Provider, _kind: Kind, _name: str) -> str:
    """Return an empty text, for another writer."""
    return ''


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
        author: Author = unknown_author,
    ) -> None:
        """Begin without notes.

        :param home: the uuids of the providers in the node's own tree
        :param author: asked about names that are restored
        """
        self.lines: list[str] = []
        self.restored: set[assertion.Named] = set()
        self._record = record
        self._policy = policy
        self._home = home
        self._author = author

    def read_only(
        self, one: provider.Provider, kinds: Collection[Kind]
    ) -> None:
        """Note the kinds of names that were asserted in vain."""
        if kinds:
            listed = ', '.join(kinds)
            self.lines.append(_READ_ONLY.format(one, listed, one.uuid))

    def decided(
        self,
        one: provider.Provider,
        inputs: claims.Inputs,
        decision: claims.Decision,
    ) -> None:
        """Note the names of one kind that stay, are masked, or come back."""
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
                author = self._author(one, kind, name) or _OTHERS
                by_author.setdefault(author, set()).add(name)
                self.restored.add((one.uuid, kind, name))
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
