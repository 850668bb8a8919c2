# SPDX-License-Identifier: Apache-2.0
"""What earlier cycles left behind: the values that the state database keeps.

Pure: no I/O, configuration, logging or clock. ``state_record.py`` writes and
reads them, ``ownership.py`` judges by them.
"""

import dataclasses
from collections.abc import Mapping

from . import assertion, provider

# A provider's uuid, and the kind of names it is about.
Key = tuple[str, assertion.Kind]
# The names that each source holds for one node.
Held = Mapping[str, frozenset[str]]
# A source, and the node that it holds names for.
Holder = tuple[str, str]


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
    held: Mapping[Key, Held] = dataclasses.field(default_factory=dict)
    others: Mapping[Key, Mapping[Holder, frozenset[str]]] = dataclasses.field(
        default_factory=dict
    )
    was: Mapping[str, provider.Provider] = dataclasses.field(
        default_factory=dict
    )

    def holders(self, key: Key) -> list[tuple[str, frozenset[str]]]:
        """Return what each source holds, those of other nodes named so."""
        own = sorted(self.held.get(key, {}).items())
        others = sorted(self.others.get(key, {}).items())
        return own + [(f'{s} of {node}', some) for (s, node), some in others]

    def held_by_others(self, key: Key) -> frozenset[str]:
        """Return what is held for other nodes."""
        return frozenset[str]().union(*self.others.get(key, {}).values())
