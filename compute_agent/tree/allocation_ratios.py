# SPDX-License-Identifier: Apache-2.0
"""The allocation ratio of an inventory record.

Pure: no I/O, configuration, logging or clock. An operator's ratio in placement
stays unless configuration or the source gives another. The order is: the forced
ratio, else the source's own, else the one in placement, else the configured
initial ratio, else 1.0.
"""

import dataclasses
from collections.abc import Mapping

from . import inventory

DEFAULT = 1.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """The configured ratios by resource class.

    :ivar forced: nova's ``*_allocation_ratio``
    :ivar initial: nova's ``initial_*_allocation_ratio``
    """

    forced: Mapping[str, float] = dataclasses.field(default_factory=dict)
    initial: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def complete(
        self,
        rc: str,
        record: inventory.Record,
        current: inventory.Inventory | None,
    ) -> inventory.Inventory:
        """Return the complete record with its ratio resolved.

        :param record: as the source gave it; a ratio in it is used unless
            configuration forces another
        :param current: placement's inventory of this class, if it has one
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
