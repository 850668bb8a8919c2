# SPDX-License-Identifier: Apache-2.0
"""What placement was asked, and what a conflict cost the one who met it.

Pure, but for reading the file that ``recording_placement.py`` wrote. The
measure: *the requests that an agent sends after a 409, up to and with its next
409, or else until the cycle is over in which the node is done or waits*. Among
these may be writes that come after the refused one in any case, and reads that
are repeated since somebody came between again; less those it is the conflict's
own cost: what is read, each thing once, and the one write again.
"""

import dataclasses
import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

from long_runs.daemon import Cycle


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, as it was answered.

    :ivar at: seconds since the epoch, when its answer was begun
    """

    at: float
    who: str
    method: str
    path: str
    query: str
    status: int
    body: Any
    epoch: str = ''

    def __str__(self) -> str:
        query = f'?{self.query}' if self.query else ''
        return f'{self.method} {self.path}{query} {self.status}'

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return self.method != 'GET'

    @property
    def what(self) -> tuple[str, str]:
        """What it asks for, whatever it is compared with."""
        return self.path, self.query.partition('=')[0]

    @property
    def done(self) -> bool:
        """Whether it changed something, if it writes."""
        return self.status < 300


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one conflict cost, by the measure, and of its own.

    :ivar sent: all that was sent, a line
    """

    requests: int
    of_its_own: int
    sent: str


def read(path: pathlib.Path) -> list[Request]:
    """Return the requests so far, as they were answered."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [Request(**json.loads(line)) for line in lines]


def during(requests: Iterable[Request], cycle: Cycle) -> list[Request]:
    """Return those of a cycle, given those of one agent."""
    return [r for r in requests if cycle.began <= r.at < cycle.ended]


def by_cycle(
    requests: Sequence[Request], cycles: Sequence[Cycle]
) -> list[list[Request]]:
    """Return an agent's requests by cycle; what is in none is the last."""
    ends = [cycle.ended for cycle in cycles]
    found: list[list[Request]] = [[] for _ in range(len(ends) + 1)]
    number = 0
    for request in requests:
        while number < len(ends) and request.at >= ends[number]:
            number += 1
        found[number].append(request)
    return found


def costs(turn: Sequence[Request]) -> list[Cost]:
    """Return what each 409 of one turn cost."""
    places = [n for n, request in enumerate(turn) if request.status == 409]
    ends = [*(n + 1 for n in places[1:]), len(turn)]
    return [
        _cost(turn[place + 1 : end])
        for place, end in zip(places, ends, strict=False)
    ]


def _cost(after: Sequence[Request]) -> Cost:
    reads = {r.what for r in after if not r.writes}
    again = any(r.writes for r in after)
    return Cost(
        requests=len(after),
        of_its_own=len(reads) + again,
        sent=', '.join(str(request) for request in after),
    )
