# SPDX-License-Identifier: Apache-2.0
"""The measurements, as values and as the data of a results file. Pure."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self

from . import scenarios


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The conditions of a comparison: one database and one cloud."""

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
        """Return the place as data."""
        return {**dataclasses.asdict(self), 'shape': self.shape.value}

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of such data."""
        return cls(**{**data, 'shape': scenarios.Shape(data['shape'])})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One cycle.

    :ivar wall: seconds of the client
    :ivar cpu: seconds of the client's processor time
    :ivar placement_cpu: seconds of placement's workers
    :ivar database_cpu: seconds of the database; 0 if it has no process
    :ivar routes: route → number of requests
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
    """The cost of the list of all providers, the floor for its readers.

    :ivar wall: seconds until the answer was complete, the least of a few
    :ivar parse: seconds to parse it, the least of a few
    """

    place: Place
    wall: float
    parse: float
    length: int

    @property
    def whole(self) -> float:
        """The seconds of both."""
        return self.wall + self.parse


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A group that was not completely measured, and the reason."""

    group: str
    why: str


@dataclasses.dataclass(slots=True, kw_only=True)
class Results:
    """The results of one run; they grow during the run.

    :ivar machine: the description of the machine, for the report
    """

    machine: Mapping[str, str]
    measurements: list[Measurement] = dataclasses.field(default_factory=list)
    floors: list[Floor] = dataclasses.field(default_factory=list)
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """Return the data of a results file."""
        return {
            'machine': dict(self.machine),
            'measurements': _plain(self.measurements),
            'floors': _plain(self.floors),
            'failures': [dataclasses.asdict(one) for one in self.failures],
        }

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of such data."""
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
