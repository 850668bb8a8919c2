# SPDX-License-Identifier: Apache-2.0
"""Which allocation ratio holds where a source has no opinion.

Pure: no I/O, configuration, logging or clock. An operator's ratio in placement
survives unless configuration forces one: forced, else what placement has, else
the initial one, else 1.0.
"""

import dataclasses
from collections.abc import Mapping

from . import inventory

DEFAULT = 1.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """The configured ratios by resource class (``*_allocation_ratio``)."""

    forced: Mapping[str, float] = dataclasses.field(default_factory=dict)
    initial: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def complete(
        self,
        rc: str,
        record: inventory.Record,
        current: inventory.Inventory | None,
    ) -> inventory.Inventory:
        """Return the whole record, its ratio resolved.

        :param record: as the source gave it; a ratio in it stands, unless
            configuration forces one
        :param held: what placement holds of this class now
        """
        if rc in self.forced:
            ratio = self.forced[rc]
        elif 'allocation_ratio' in record:
            return inventory.Inventory.from_record(record)
        elif current is not None:
            ratio = current.allocation_ratio
        else:
            ratio = self.initial.get(rc, DEFAULT)
        return inventory.Inventory.from_record(
            {**record, 'allocation_ratio': ratio}
        )
