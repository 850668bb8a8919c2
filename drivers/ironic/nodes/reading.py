# SPDX-License-Identifier: Apache-2.0
"""All that was read of the nodes: the last list, and the changes since then.

Pure: no I/O, configuration, logging or clock. ``reader.py`` makes a new
reading of the one before it; methods of the driver look at it in parallel.
"""

import dataclasses
import typing
from collections.abc import Mapping, Sequence

from . import answers, describe
from . import node as ironic


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The nodes, and the problems with their resource classes.

    :ivar listing: its nodes are named by their uuids as Ironic spells them
    :ivar problems: by resource class as Ironic spells it
    """

    listing: answers.Listing = dataclasses.field(
        default_factory=answers.Listing
    )
    problems: Mapping[str, describe.Problem] = dataclasses.field(
        default_factory=dict
    )

    @property
    def nodes(self) -> Mapping[str, ironic.Node]:
        """The nodes that can be reported."""
        return self.listing.nodes

    @classmethod
    def from_listing(cls, listing: answers.Listing) -> typing.Self:
        """Return the reading of a list."""
        classes = (node.resource_class for node in listing.nodes.values())
        return cls(listing=listing, problems=describe.problems(classes))

    def with_changes(self, found: answers.Found) -> 'Reading':
        """Return the reading after these nodes were read."""
        before = self.listing.found
        if all(before.get(ident) == node for ident, node in found.items()):
            return self
        return Reading.from_listing(answers.listing({**before, **found}))

    def with_alone(
        self, alone: Mapping[str, answers.Dated | None]
    ) -> 'Reading':
        """Return the reading after these nodes were read one by one.

        :param alone: None for a node that is gone
        """
        if not alone:
            return self
        found = {k: v for k, v in self.listing.found.items() if k not in alone}
        there = {k: one.node for k, one in alone.items() if one is not None}
        return Reading.from_listing(answers.listing({**found, **there}))

    def facts(
        self, ident: str
    ) -> tuple[ironic.Node, describe.Problem | None] | None:
        """Return what decides a node's description; None if it is missing."""
        node = self.nodes.get(ident)
        if node is None:
            return None
        return node, self.problems.get(node.resource_class or '')

    def differing(self, before: 'Reading') -> Sequence[str]:
        """Return the nodes with other facts than in an earlier reading."""
        if self is before:
            return ()
        return [n for n in self.nodes if self.facts(n) != before.facts(n)]

    def in_doubt(self, known: answers.Found) -> Sequence[str]:
        """Return the nodes whose traits the known nodes do not tell.

        They are new, or another field has changed, and so may have the traits.
        """
        return [
            ident
            for ident, node in self.listing.found.items()
            if isinstance(node, ironic.Node) and known.get(ident) != node
        ]
