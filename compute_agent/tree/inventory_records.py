# SPDX-License-Identifier: Apache-2.0
"""A provider's complete inventory as a driver gives it, by resource class.

Pure: no I/O, configuration, logging or clock. A driver's record may omit
fields, and an omitted allocation ratio means that the driver has no opinion on
it. Therefore the ProviderTree keeps the records as they were given; they
become ``Inventory`` values when ownership is resolved.
"""

from collections.abc import Mapping

from .. import errors
from . import inventory, names

Records = Mapping[str, inventory.Record]


def check(records: Records) -> dict[str, dict[str, int | float]]:
    """Return copies of these records, each of them valid.

    :raises errors.TreeError: a record that placement would refuse
    :raises errors.InvalidName: a resource class outside the grammar of names
    """
    if not isinstance(records, Mapping):
        raise errors.TreeError(
            f'{records!r} is not an inventory: give resource class → record'
        )
    for rc, record in records.items():
        names.check_symbol(rc, 'resource class')
        try:
            inventory.Inventory.from_record(record)
        except errors.TreeError as exc:
            raise errors.TreeError(f'inventory of {rc}: {exc}') from exc
    return {rc: dict(record) for rc, record in records.items()}


def differ(records: Records, others: Records) -> bool:
    """Return True if two inventories differ once defaults are filled in."""
    return records.keys() != others.keys() or (
        _complete(records) != _complete(others)
    )


def _complete(records: Records) -> dict[str, inventory.Inventory]:
    return {
        rc: inventory.Inventory.from_record(record)
        for rc, record in records.items()
    }
