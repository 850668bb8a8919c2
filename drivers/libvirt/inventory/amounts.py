# SPDX-License-Identifier: Apache-2.0
"""The inventory of a provider, as far as it is known.

Pure: no I/O, configuration, logging or clock. An amount that cannot be read is
never 0: its resource class stays as placement has it. ``reading/`` makes these
values, ``driver.py`` writes them to the tree.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Self

from compute_agent.tree import inventory

Records = Mapping[str, inventory.Record]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """The known records, and the classes without a known amount.

    :ivar known: resource class → record; a class that the host does not have
        is missing
    :ivar unknown: the resource classes that stay as placement has them
    :ivar faults: a line for the operator for each reason that an amount is
        unknown
    """

    known: Records = dataclasses.field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()

    @classmethod
    def unread(cls, fault: str, *classes: str) -> Self:
        """Return the amounts of classes that cannot be told, with the line."""
        return cls(unknown=frozenset(classes), faults=(fault,))

    @classmethod
    def joined(cls, parts: Iterable['Amounts']) -> Self:
        """Return the amounts of all parts."""
        parts = tuple(parts)
        return cls(
            known={rc: r for part in parts for rc, r in part.known.items()},
            unknown=frozenset().union(*(part.unknown for part in parts)),
            faults=tuple(line for part in parts for line in part.faults),
        )

    def beside(self, current: Records) -> dict[str, inventory.Record]:
        """Return the complete inventory of a provider that has ``current``.

        An unknown class stays as it is; it is not added if it is missing.
        """
        known = {
            rc: r for rc, r in self.known.items() if rc not in self.unknown
        }
        kept = {rc: r for rc, r in current.items() if rc in self.unknown}
        return {**known, **kept}
