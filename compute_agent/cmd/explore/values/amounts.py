# SPDX-License-Identifier: Apache-2.0
"""Amounts of a resource class: what there is, is used, reserved and free.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
import typing
from collections.abc import Iterable, Mapping


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """The amounts of one resource class, on one provider or summed over many.

    Each is a sum over the providers: what one has free does not make good what
    another has too little.

    :ivar capacity: what can be allocated: (total - reserved) * ratio, of each
        provider rounded down as placement does
    :ivar excess: what is used above the capacity
    """

    total: int
    reserved: int
    capacity: int
    used: int
    free: int
    excess: int

    @classmethod
    def of(
        cls, total: int, reserved: int, ratio: float, used: int
    ) -> typing.Self:
        """Return the amount of an inventory."""
        capacity = int((total - reserved) * ratio)
        return cls(
            total=total,
            reserved=reserved,
            capacity=capacity,
            used=used,
            free=max(capacity - used, 0),
            excess=max(used - capacity, 0),
        )

    def plus(self, other: 'Amount') -> 'Amount':
        """Return the sum of two amounts."""
        return Amount(
            total=self.total + other.total,
            reserved=self.reserved + other.reserved,
            capacity=self.capacity + other.capacity,
            used=self.used + other.used,
            free=self.free + other.free,
            excess=self.excess + other.excess,
        )

    def data(self) -> dict[str, typing.Any]:
        """Return the amounts as data, with the parts of a bar in percent.

        The whole bar is what is used, free and reserved.
        """
        whole = max(self.used + self.free + self.reserved, 1)
        usual = max(self.total - self.reserved, 0)
        return {
            'total': self.total,
            'reserved': self.reserved,
            'capacity': self.capacity,
            'used': self.used,
            'free': self.free,
            'over_committed': max(self.capacity - usual, 0),
            'over_capacity': self.excess,
            'bar': {
                'used': round(100 * (self.used - self.excess) / whole, 2),
                'over': round(100 * self.excess / whole, 2),
                'reserved': round(100 * self.reserved / whole, 2),
            },
        }


def summed(
    many: Iterable[Mapping[str, Amount]],
) -> dict[str, tuple[int, Amount]]:
    """Return the sum of each class, with the number of its providers."""
    found: dict[str, tuple[int, Amount]] = {}
    for amounts in many:
        for rc, amount in amounts.items():
            count, known = found.get(rc, (0, None))
            found[rc] = count + 1, amount.plus(known) if known else amount
    return dict(sorted(found.items()))
