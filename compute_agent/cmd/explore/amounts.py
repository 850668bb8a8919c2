# SPDX-License-Identifier: Apache-2.0
"""Amounts of a resource class: what there is, is used, reserved and free.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
import typing
from collections.abc import Iterable, Mapping


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """The amounts of one class, of a provider or of many.

    :ivar capacity: what can be allocated: (total - reserved) * ratio, of each
        provider rounded down as placement does
    """

    total: int
    reserved: int
    capacity: int
    used: int

    @classmethod
    def of(
        cls, total: int, reserved: int, ratio: float, used: int
    ) -> typing.Self:
        """Return the amount of an inventory."""
        return cls(
            total=total,
            reserved=reserved,
            capacity=int((total - reserved) * ratio),
            used=used,
        )

    def plus(self, other: 'Amount') -> 'Amount':
        """Return the sum of two amounts."""
        return Amount(
            total=self.total + other.total,
            reserved=self.reserved + other.reserved,
            capacity=self.capacity + other.capacity,
            used=self.used + other.used,
        )

    def data(self) -> dict[str, typing.Any]:
        """Return the amounts as data, with the parts of a bar in percent.

        The whole bar is the capacity and what is reserved, or what is used if
        that is more.
        """
        whole = max(self.capacity + self.reserved, self.used, 1)
        usual = max(self.total - self.reserved, 0)
        return {
            'total': self.total,
            'reserved': self.reserved,
            'capacity': self.capacity,
            'used': self.used,
            'free': max(self.capacity - self.used, 0),
            'over_committed': max(self.capacity - usual, 0),
            'over_capacity': max(self.used - self.capacity, 0),
            'bar': {
                'used': round(100 * min(self.used, self.capacity) / whole, 2),
                'over': round(
                    100 * max(self.used - self.capacity, 0) / whole, 2
                ),
                'reserved': round(
                    100 * min(self.reserved, whole - self.used) / whole, 2
                )
                if self.used < whole
                else 0,
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
