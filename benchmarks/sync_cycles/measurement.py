# SPDX-License-Identifier: Apache-2.0
"""What was measured, as values and as the data of a results file. Pure."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self

from . import scenarios


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where agents are compared: one database, one cloud."""

    database: str
    shape: scenarios.Shape
    nodes: int

    @classmethod
    def of(cls, group: scenarios.Group) -> Self:
        """Return the place of a group."""
        return cls(
            database=group.database, shape=group.shape, nodes=group.nodes
        )

    def data(self) -> dict[str, Any]:
        """Return it as data."""
        return {**dataclasses.asdict(self), 'shape': self.shape.value}

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Self:
        """Return what ``data`` made."""
        return cls(**{**data, 'shape': scenarios.Shape(data['shape'])})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One cycle.

    :ivar wall: seconds the client took; ``cpu``: of its processor time
    :ivar placement_cpu: seconds of placement's workers
    :ivar database_cpu: seconds of their database, 0 if it is no process
    :ivar routes: route → requests that came to placement
    """

    place: Place
    scenario: str
    agent: str
    repeat: int
    wall: float
    cpu: float
    peak_mib: float
    placement_cpu: float
    database_cpu: float
    routes: Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """The list of all providers alone: who reads that cannot be below it.

    :ivar wall: seconds until the answer was there, the least of a few
    :ivar parse: seconds to parse it, the least of a few
    """

    place: Place
    wall: float
    parse: float
    length: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A group that was not measured to its end, and why."""

    group: str
    why: str


@dataclasses.dataclass(slots=True, kw_only=True)
class Results:
    """All of one run; it grows while the run lasts.

    :ivar machine: what it ran on, to be printed
    """

    machine: Mapping[str, str]
    measurements: list[Measurement] = dataclasses.field(default_factory=list)
    floors: list[Floor] = dataclasses.field(default_factory=list)
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """Return them as the data of a results file."""
        return {
            'machine': dict(self.machine),
            'measurements': _plain(self.measurements),
            'floors': _plain(self.floors),
            'failures': [dataclasses.asdict(one) for one in self.failures],
        }

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Self:
        """Return what ``data`` made."""
        return cls(
            machine=data['machine'],
            measurements=[
                Measurement(**_placed(one)) for one in data['measurements']
            ],
            floors=[Floor(**_placed(one)) for one in data['floors']],
            failures=[Failure(**one) for one in data['failures']],
        )


def _plain(some: Sequence[Measurement | Floor]) -> list[dict[str, Any]]:
    return [
        {**dataclasses.asdict(one), 'place': one.place.data()} for one in some
    ]


def _placed(data: Mapping[str, Any]) -> dict[str, Any]:
    return {**data, 'place': Place.parsed(data['place'])}
