# SPDX-License-Identifier: Apache-2.0
"""What earlier cycles left behind: the values that the state database keeps.

Pure: no I/O, configuration, logging or clock. ``state/records.py`` writes and
reads them, ``resolve.py`` judges by them.
"""

import dataclasses
from collections.abc import Mapping

from ..tree import provider
from ..tree.assertion import Claims, Key

# A source, and the node that it holds names for.
Claimant = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What earlier cycles left behind, of the providers in question.

    :ivar created: uuids of the providers this agent created or adopted
    :ivar ours: the names it added, by provider and kind
    :ivar held: the names each source asserted for the node in question when
        it last visited
    :ivar others: the names each source asserted for another node
    :ivar was: providers as they stood before others changed them
    """

    created: frozenset[str] = frozenset()
    ours: Mapping[Key, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    claims: Mapping[Key, Claims] = dataclasses.field(default_factory=dict)
    others: Mapping[Key, Mapping[Claimant, frozenset[str]]] = (
        dataclasses.field(default_factory=dict)
    )
    was: Mapping[str, provider.Provider] = dataclasses.field(
        default_factory=dict
    )

    def claimants(self, key: Key) -> list[tuple[str, frozenset[str]]]:
        """Return what each source holds, those of other nodes named so."""
        own = sorted(self.claims.get(key, {}).items())
        others = sorted(self.others.get(key, {}).items())
        return own + [(f'{s} of {node}', some) for (s, node), some in others]

    def claimed_for_other_nodes(self, key: Key) -> frozenset[str]:
        """Return what is held for other nodes."""
        return frozenset[str]().union(*self.others.get(key, {}).values())
