# SPDX-License-Identifier: Apache-2.0
"""A metric with all its series, which Prometheus calls a family.

Pure: no I/O, configuration, logging or clock. A label says what bounds the
number of its values, because each value is a series that Prometheus keeps.
"""

import dataclasses
import enum
from collections.abc import Mapping

NAMESPACE = 'compute_agent'


class Kind(enum.Enum):
    """The kinds of metrics; the values are Prometheus' words."""

    COUNTER = 'counter'
    GAUGE = 'gauge'
    HISTOGRAM = 'histogram'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A metric with all its series.

    :ivar name: without the namespace, and without a counter's ``_total``
    :ivar labels: label → what bounds the number of its values
    :ivar buckets: of a histogram, the upper limits
    :ivar option: the option without which the metric is absent
    """

    name: str
    unit: str
    text: str
    kind: Kind = Kind.GAUGE
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    buckets: tuple[float, ...] = ()
    option: str = ''

    @property
    def full_name(self) -> str:
        """The name in a scrape."""
        total = '_total' if self.kind is Kind.COUNTER else ''
        return f'{NAMESPACE}_{self.name}{total}'

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series in a scrape."""
        if self.kind is not Kind.HISTOGRAM:
            return (self.full_name,)
        ends = ('bucket', 'count', 'sum')
        return tuple(f'{self.full_name}_{end}' for end in ends)
