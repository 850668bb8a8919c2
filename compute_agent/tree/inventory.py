# SPDX-License-Identifier: Apache-2.0
"""One inventory record with all six fields of placement.

Pure: no I/O, configuration, logging or clock. Placement fills omitted fields
with defaults and returns all six. An ``Inventory`` therefore always has all
six, and "changed" is ``!=``. An omitted allocation ratio can mean 1.0 or "the
operator's"; ``Ratios`` decides this before the value is made.

An operator's ratio in placement stays unless configuration or the source gives
another. The order is: the forced ratio, else the source's own, else the one in
placement, else the configured initial ratio, else 1.0.
"""

import dataclasses
import functools
import math
import typing
from collections.abc import Iterable, Mapping

from .. import error_text, errors

MAX_INT = 2147483647
MAX_RATIO = 3.40282e38  # placement's schema: a single-precision number
# MySQL keeps ratios in single precision and shows six significant digits.
RATIO_TOLERANCE = 1e-5

Record = Mapping[str, int | float]


class InventoryRecord(typing.TypedDict, total=False):
    """A record as a driver gives it: a type checker knows each field.

    All amounts are in the unit of the class: MEMORY_MB in MiB, DISK_GB in GiB,
    NET_BW_*_KILOBIT_PER_SEC in kbit/s, all others in pieces.

    :ivar total: at least 1; leave out a class that the provider does not offer
    :ivar reserved: not offered, from 0 (the default) to the total
    :ivar min_unit: the smallest amount of one allocation; 1 by default
    :ivar max_unit: the largest amount of one allocation; no limit by default
    :ivar step_size: each amount must be a multiple of it; 1 by default
    :ivar allocation_ratio: above 0; without one, configuration and operators
        decide
    """

    total: typing.Required[int]
    reserved: int
    min_unit: int
    max_unit: int
    step_size: int
    allocation_ratio: float


_INTEGERS = ('total', 'reserved', 'min_unit', 'max_unit', 'step_size')
FIELDS = frozenset((*_INTEGERS, 'allocation_ratio'))

#: The shape of a record in a file, as a JSON schema: a total alone, or fields.
RECORD_SCHEMA: dict[str, typing.Any] = {
    'description': 'the total, or a mapping of inventory fields',
    'type': ['integer', 'object'],
    'properties': {
        field: {'type': 'number', 'description': 'a number'}
        for field in sorted(FIELDS)
    },
    'required': ['total'],
    'additionalProperties': False,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inventory:
    """A provider's inventory of one resource class.

    ``total`` is in the class's own unit (MEMORY_MB in MiB, DISK_GB in GiB).
    Two records are equal if their integers are equal and their ratios differ
    by no more than a database's rounding.
    """

    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = MAX_INT
    step_size: int = 1
    allocation_ratio: float = 1.0

    def __post_init__(self) -> None:
        for field in _INTEGERS:
            low = 0 if field == 'reserved' else 1
            _check_integer(field, getattr(self, field), low)
        if self.reserved > self.total:
            raise errors.TreeError(
                f'reserved {self.reserved} is more than total {self.total}: '
                'to offer nothing, give reserved = total'
            )
        ratio = self.allocation_ratio
        number = isinstance(ratio, (int, float)) and not isinstance(
            ratio, bool
        )
        if not number or not 0 <= ratio <= MAX_RATIO:
            raise errors.TreeError(
                f'allocation_ratio {error_text.excerpt(ratio)} must be a '
                f'number from 0 to {MAX_RATIO:g}; leave it out, and configuration '
                'and operators decide it'
            )
        object.__setattr__(self, 'allocation_ratio', float(ratio))

    @classmethod
    def from_record(cls, record: Record) -> typing.Self:
        """Return the record, with placement's defaults for omitted fields.

        Equal records share one cached value.

        :raises errors.TreeError: an unknown field, a value out of range, or
            no total
        """
        try:
            return typing.cast('typing.Self', _made(**record))
        except TypeError:
            return cls._from_odd_record(record)

    @classmethod
    def _from_odd_record(cls, record: Record) -> typing.Self:
        """Return the value of an unhashable record, or raise the reason."""
        if not isinstance(record, Mapping):
            raise errors.TreeError(
                f'{error_text.excerpt(record)} is not an inventory record: '
                "give a mapping with a total, such as {'total': 8}"
            )
        fields = {
            f if isinstance(f, str) else error_text.excerpt(f) for f in record
        }
        unknown = sorted(fields - FIELDS)
        if unknown:
            listed = ', '.join(unknown)
            raise errors.TreeError(
                f'unknown inventory field {listed:.60}; the fields are '
                f'{", ".join(sorted(FIELDS))}'
            )
        if 'total' not in record:
            raise errors.TreeError(
                "an inventory record needs a total: add 'total', or leave "
                'out the class'
            )
        return cls(**record)  # type: ignore[arg-type]

    def to_record(self) -> dict[str, int | float]:
        """Return the six fields as placement's API writes them."""
        return {
            'total': self.total,
            'reserved': self.reserved,
            'min_unit': self.min_unit,
            'max_unit': self.max_unit,
            'step_size': self.step_size,
            'allocation_ratio': self.allocation_ratio,
        }

    @classmethod
    def from_values(cls, values: Iterable[typing.Any]) -> typing.Self:
        """Return the inventory whose ``values`` these are.

        :raises ValueError: there are not six values
        """
        return cls(**dict(zip(cls.__dataclass_fields__, values, strict=True)))

    def values(self) -> list[int | float]:
        """Return the values of the six fields, to keep them without names."""
        return list(self.to_record().values())

    @property
    def capacity(self) -> float:
        """The amount that can be allocated: ``(total - reserved) * ratio``."""
        return (self.total - self.reserved) * self.allocation_ratio

    def limited_to(self, other: 'Inventory') -> 'Inventory':
        """Return a record that offers only what both records offer.

        It has the smaller capacity and the narrower units, so an allocation
        that fits it fits both.
        """
        smaller = other if other.capacity <= self.capacity else self
        return dataclasses.replace(
            smaller,
            max_unit=min(self.max_unit, other.max_unit),
            min_unit=max(self.min_unit, other.min_unit),
            step_size=min(math.lcm(self.step_size, other.step_size), MAX_INT),
        )

    def fully_reserved(self) -> 'Inventory':
        """Return this record with its whole total reserved."""
        return dataclasses.replace(self, reserved=self.total)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Inventory):
            return NotImplemented
        return self._integers() == other._integers() and _same_ratio(
            self.allocation_ratio, other.allocation_ratio
        )

    def __hash__(self) -> int:
        return hash(self._integers())

    def _integers(self) -> tuple[int, ...]:
        return (
            self.total,
            self.reserved,
            self.min_unit,
            self.max_unit,
            self.step_size,
        )


# Thousands of nodes have the same few records, built again in each cycle.
_made = functools.lru_cache(maxsize=4096, typed=True)(Inventory)


def from_source(record: Record, current: Record | None = None) -> Inventory:
    """Return a record that a driver or a file gives, if it offers something.

    Placement takes records of which nothing can be allocated. A source that
    gives such a record is mistaken, unless it reserves the whole total.

    :param current: the provider's own record, which a source may repeat
    :raises errors.TreeError: as for ``Inventory.from_record``; or its ratio is
        0, or no amount fits its units
    """
    made = Inventory.from_record(record)
    wrong = _offers_nothing(made)
    if wrong and (current is None or Inventory.from_record(current) != made):
        raise errors.TreeError(wrong)
    return made


def _offers_nothing(made: Inventory) -> str:
    """Return why nothing of a record can be allocated; empty if it can."""
    if not made.allocation_ratio:
        return (
            'allocation_ratio 0 offers nothing: leave it out, and '
            'configuration and operators decide it; to offer nothing, give '
            'reserved = total'
        )
    if made.min_unit > made.max_unit:
        return (
            f'min_unit {made.min_unit} is more than max_unit '
            f'{made.max_unit}, so no amount fits: lower min_unit'
        )
    for field in ('min_unit', 'step_size'):
        if (unit := getattr(made, field)) > made.total:
            return (
                f'{field} {unit} is more than total {made.total}, so no '
                f'amount fits: lower {field}, or leave out the class'
            )
    return ''


def _same_ratio(ratio: float, other: float) -> bool:
    return math.isclose(ratio, other, rel_tol=RATIO_TOLERANCE)


def as_given(
    records: Mapping[str, Record],
) -> Mapping[str, InventoryRecord]:
    """Return the agent's records, typed as a driver's records."""
    return typing.cast(Mapping[str, InventoryRecord], records)


def whole_number(value: object) -> bool:
    """Return True if this is an int, and no boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _check_integer(field: str, value: object, low: int) -> None:
    if (
        not whole_number(value)
        or not low <= typing.cast(int, value) <= MAX_INT
    ):
        hint = _advice(field, value)
        raise errors.TreeError(
            f'{field} {error_text.excerpt(value)} must be a whole number from '
            f'{low} to {MAX_INT}{hint}'
        )


def _advice(field: str, value: object) -> str:
    if not whole_number(value):
        return '; give an int'
    return '; leave out a class whose total is 0' if field == 'total' else ''


DEFAULT_RATIO = 1.0


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
        record: Record,
        current: Inventory | None,
    ) -> Inventory:
        """Return the complete record with its ratio resolved.

        :param record: as the source gave it; a ratio in it is used unless
            configuration forces another
        :param current: placement's inventory of this class, if it has one
        """
        if rc not in self.forced and 'allocation_ratio' in record:
            return Inventory.from_record(record)
        there = None if current is None else current.to_record()
        ratio = self.ratio(rc, there)
        return Inventory.from_record({**record, 'allocation_ratio': ratio})

    def ratio(self, rc: str, current: Record | None) -> float:
        """Return the ratio of a class for which a source has no opinion.

        :param current: placement's record of this class, if it has one
        """
        if rc in self.forced:
            return self.forced[rc]
        if current is not None and 'allocation_ratio' in current:
            return current['allocation_ratio']
        return self.initial.get(rc, DEFAULT_RATIO)
