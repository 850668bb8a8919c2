# SPDX-License-Identifier: Apache-2.0
"""The panels of the Grafana board in ``etc/grafana``, with their queries.

Only ``read`` opens a file; the rest is pure. The tests check the queries, and ``board_picture.py``
draws the panels.
"""

import dataclasses
import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

FILE = (
    pathlib.Path(__file__).parents[2]
    / 'etc'
    / 'grafana'
    / 'compute-agent.json'
)
# The values that the variables of the board have outside of Grafana, which
# computes the interval of a rate from the time between two scrapes (a minute).
VALUES = {
    '$job': 'compute-agent',
    '$instance': '.+',
    '$__rate_interval': '4m',
    '$__range': '6h',
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query in PromQL, without variables.

    :ivar given: as the board has it, with variables
    :ivar legend: the name of each series, with ``{{label}}``
    """

    expr: str
    given: str
    legend: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A panel of the board that shows data; a row only has a title.

    :ivar place: ``x``, ``y``, ``w`` and ``h`` in a grid of 24 columns
    :ivar data: all that the board has of it
    """

    title: str
    kind: str
    unit: str
    place: Mapping[str, int]
    queries: tuple[Query, ...]
    data: Mapping[str, Any]


def read() -> dict[str, Any]:
    """Return the board as Grafana imports it."""
    board: dict[str, Any] = json.loads(FILE.read_text())
    return board


def panels(board: Mapping[str, Any]) -> list[Panel]:
    """Return the panels in their order on the board."""
    return [
        Panel(
            title=one['title'],
            kind=one['type'],
            unit=one['fieldConfig']['defaults'].get('unit', ''),
            place=one['gridPos'],
            queries=tuple(
                Query(
                    expr=filled(target['expr']),
                    given=target['expr'],
                    legend=target['legendFormat'],
                )
                for target in one['targets']
            ),
            data=one,
        )
        for one in board['panels']
        if one['type'] != 'row'
    ]


def filled(expr: str) -> str:
    """Return a query with values in place of the variables."""
    return re.sub(r'\$\w+', lambda found: VALUES[found[0]], expr)
