# SPDX-License-Identifier: Apache-2.0
"""The record of earlier cycles, as the state database keeps it.

Pure: no I/O, configuration, logging or clock. ``state/records.py``
writes and reads it; ``resolve.py`` decides by it.
"""

import dataclasses
from collections.abc import Collection, Container, Mapping

from ..tree import provider
from ..tree.assertion import Claims, Key

_NONE = frozenset[str]()

# A source, and the node for which it claims names.
Claimant = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The record of some providers.

    :ivar created: uuids of the providers this agent created or adopted
    :ivar ours: the names it added, by provider and kind
    :ivar claims: the names that each source claims for the node in question
    :ivar others: the names that each source claims for other nodes
    :ivar taken_over: uuids of other writers' providers that a person allowed
        this agent to write; see ``takeover.py``
    :ivar was: the providers as they were before other writers changed them
    """

    created: frozenset[str] = frozenset()
    ours: Mapping[Key, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    claims: Mapping[Key, Claims] = dataclasses.field(default_factory=dict)
    others: Mapping[Key, Mapping[Claimant, frozenset[str]]] = (
        dataclasses.field(default_factory=dict)
    )
    taken_over: frozenset[str] = frozenset()
    was: Mapping[str, provider.Provider] = dataclasses.field(
        default_factory=dict
    )

    def with_ours(self, key: Key, names: Collection[str]) -> 'Record':
        """Return the record with more names that count as added."""
        if not names:
            return self
        ours = self.ours.get(key, _NONE).union(names)
        return dataclasses.replace(self, ours={**self.ours, key: ours})

    def of(self, uuids: Container[str]) -> 'Record':
        """Return the part of the record that is about these providers."""
        return dataclasses.replace(
            self,
            created=frozenset(u for u in self.created if u in uuids),
            taken_over=frozenset(u for u in self.taken_over if u in uuids),
            ours={k: found for k, found in self.ours.items() if k[0] in uuids},
            claims={k: by for k, by in self.claims.items() if k[0] in uuids},
            others={},
            was={},
        )

    def claimants(self, key: Key) -> list[tuple[str, frozenset[str]]]:
        """Return each source with its claims, those for this node first.

        A source of another node is named ``SOURCE of NODE``.
        """
        own = sorted(self.claims.get(key, {}).items())
        others = sorted(self.others.get(key, {}).items())
        return own + [(f'{s} of {node}', names) for (s, node), names in others]

    def concerns(self, key: Key) -> bool:
        """Return True if the agent added or a source claims such names."""
        return bool(self.ours.get(key) or self.claims.get(key))

    def nodes_that_claim(
        self, uuid: str, but: Container[str] = ()
    ) -> set[str]:
        """Return the other nodes for which a provider has claims.

        :param but: nodes that do not count
        """
        return {
            node
            for (claimed, _), by_source in self.others.items()
            for (_, node), names in by_source.items()
            if claimed == uuid and names and node not in but
        }

    def claimed_for_other_nodes(self, key: Key) -> frozenset[str]:
        """Return the names that are claimed for other nodes."""
        others = self.others.get(key)
        return frozenset[str]().union(*others.values()) if others else _NONE


NOTHING = Record()
