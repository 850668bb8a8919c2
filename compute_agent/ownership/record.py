# SPDX-License-Identifier: Apache-2.0
"""The record of earlier cycles, as the state database keeps it.

Pure: no I/O, configuration, logging or clock. ``state/records.py``
writes and reads it; ``resolve.py`` decides by it.
"""

import dataclasses
from collections.abc import Mapping

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

    def claimed_for_other_nodes(self, key: Key) -> frozenset[str]:
        """Return the names that are claimed for other nodes."""
        others = self.others.get(key)
        return frozenset[str]().union(*others.values()) if others else _NONE
