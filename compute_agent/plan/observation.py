# SPDX-License-Identifier: Apache-2.0
"""The observation of one node: its providers as placement shows them.

Pure: no I/O, configuration, logging or clock. The report client makes it. From
it the agent makes the tree that a driver edits, and compares the wanted
providers with it.
"""

import dataclasses

from ..tree import assertion, provider, provider_tree

# One provider's names of one kind: the unit of reading and writing.
Part = tuple[str, assertion.Kind]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The providers of one node, each at one generation.

    :ivar providers: the node's tree, the other roots created for it, and the
        sharing providers it reaches; empty if placement has no such node
    :ivar home: the providers of the node's own tree
    :ivar fresh: the parts that were read from placement in this cycle
    :ivar notes: lines for the operator
    """

    node_uuid: str
    providers: provider.Snapshot
    home: frozenset[str] = frozenset()
    fresh: frozenset[Part] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def uuids(self) -> frozenset[str]:
        """The providers; in most cases, those of the node's own tree."""
        if self.home == self.providers.keys():
            return self.home
        return frozenset(self.providers)

    def tree(self) -> provider_tree.ProviderTree:
        """Return a tree to edit, with sharing providers as lone roots."""
        return provider_tree.ProviderTree.from_snapshot(
            self.providers,
            detached=frozenset(self.providers) - self.home,
        )

    def asserted_elsewhere(self, tree: provider_tree.ProviderTree) -> set[str]:
        """Return the providers outside the node's own tree that a source named.

        :param tree: the tree from ``tree()``, after the driver's edits
        """
        elsewhere = self.providers.keys() - self.home
        return {uuid for uuid, _ in tree.assertions if uuid in elsewhere}
