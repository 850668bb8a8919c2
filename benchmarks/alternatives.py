# SPDX-License-Identifier: Apache-2.0
"""Alternative requests to placement that the agent does not use.

``make bench-ways`` runs this. It sends plain requests, without an agent, to
placement on PostgreSQL with two worker processes, as in ``make bench``. Each
way starts from a copy of the same database, the ways take turns, and the
database is checked for what a way should have written. "CPU" is the time of
placement and its database. ``README.md`` has the conclusions; they consider
safety too.
"""

import contextlib
import dataclasses
import functools
import json
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures

from . import measure
from .sync_cycles import (
    cloud,
    contents,
    databases,
    placement_server,
    postgresql,
)

AT_A_TIME = 4  # requests in parallel; the agent's default
REPEATS = 3
NEW, CHUNKS = 1000, (10, 100, 1000)  # providers; providers in one POST
FEW, CROWD = (100, 1000), 50_000  # our trees; all trees
_EMPTY, _MADE, _RUN = 'empty', 'made', 'run'
_LIST = '/resource_providers'

Request = tuple[str, str, object]  # method, path, body
Server = placement_server.PlacementServer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Requests with the same result as those of the other ways.

    :ivar rows: the number of providers that all answers list together
    """

    name: str
    requests: Sequence[Request]
    rows: int = 0


def writing(nodes: Sequence[cloud.Provider]) -> Iterator[Way]:
    """Yield the ways to give new providers their inventories."""
    yield Way(
        name=f'PUT inventories, {len(nodes)} times',
        requests=[
            ('PUT', f'{_LIST}/{node["uuid"]}/inventories', _inventory(node))
            for node in nodes
        ],
    )
    for size in CHUNKS:
        bodies = (
            {
                'inventories': {
                    node['uuid']: _inventory(node)
                    for node in nodes[begin : begin + size]
                },
                'allocations': {},
            }
            for begin in range(0, len(nodes), size)
        )
        yield Way(
            name=f'POST /reshaper, {size} in each',
            requests=[('POST', '/reshaper', body) for body in bodies],
        )


def looking(nodes: Sequence[cloud.Provider]) -> Iterator[Way]:
    """Yield the ways to read the generations of a few trees among many."""
    count = len(nodes)
    yield Way(
        name=f'in_tree of each of {count}',
        requests=[
            ('GET', f'{_LIST}?in_tree={node["uuid"]}', None) for node in nodes
        ],
        rows=count,
    )
    yield Way(
        name=f'member_of an aggregate of these {count}',
        requests=[('GET', f'{_LIST}?member_of={cloud.AGGREGATE}', None)],
        rows=count,
    )
    yield Way(
        name=f'the list of all {CROWD}',
        requests=[('GET', _LIST, None)],
        rows=CROWD,
    )


class Trial:
    """Runs ways and measures them.

    :param folder: for placement's configuration and log
    """

    def __init__(
        self, known: databases.Databases, folder: pathlib.Path
    ) -> None:
        self._known = known
        self._folder = folder
        placement_server.prepare(known, _EMPTY, folder)

    def make(
        self, nodes: Sequence[cloud.Provider], strangers: int = 0
    ) -> None:
        """Create the nodes without their inventories, for the next ways.

        :param strangers: the number of other providers to add
        """
        self._known.copy(_EMPTY, _RUN)
        with self._server() as server:
            for path in (
                *(f'/traits/{trait}' for trait in cloud.TRAITS),
                f'/resource_classes/{cloud.RESOURCE_CLASS}',
            ):
                _send(server, ('PUT', path, None))
            for step in (_creation, _traits, _aggregates):
                _send_all(server, [step(node) for node in nodes])
        self._known.copy(_RUN, _MADE)
        contents.add_strangers(self._known, _MADE, strangers)
        self._known.run(_MADE, 'analyze')

    def compared(
        self,
        ways: Sequence[Way],
        check: Callable[[], None] = lambda: None,
    ) -> dict[str, measure.Summary]:
        """Return the summary of each way, by name.

        :param check: raises if a way did not write what it should
        """
        runs: dict[str, list[measure.Run]] = {way.name: [] for way in ways}
        for _ in range(REPEATS):
            for way in ways:
                runs[way.name].append(self._took(way))
                check()
        return {name: measure.summary(each) for name, each in runs.items()}

    def check(self, nodes: Sequence[cloud.Provider]) -> None:
        """Check that placement has these nodes with all their contents.

        :raises contents.Wrong: rows differ; the error names the first ones
        """
        contents.check(self._known, _RUN, list(nodes))

    def _took(self, way: Way) -> measure.Run:
        self._known.copy(_MADE, _RUN)
        with self._server() as server:
            # Each worker answers once before the measurement.
            _send_all(server, [('GET', '/traits', None)] * 2 * AT_A_TIME)
            before, began = sum(server.processor_time()), time.perf_counter()
            answers = _send_all(server, way.requests)
            wall = time.perf_counter() - began
            cpu = sum(server.processor_time()) - before
        if way.rows:
            rows = sum(
                len(json.loads(answer)['resource_providers'])
                for answer in answers
            )
            if rows != way.rows:
                raise contents.Wrong(f'{way.name}: {rows} rows')
        return measure.Run(wall=wall, cpu=cpu, requests=len(way.requests))

    def _server(self) -> contextlib.AbstractContextManager[Server]:
        port = placement_server.free_port()
        return placement_server.started(self._known, _RUN, self._folder, port)


def main() -> None:
    """Measure, and print a table for each question."""
    with (
        tempfile.TemporaryDirectory(prefix='compute-agent-bench-') as name,
        contextlib.ExitStack() as undo,
    ):
        folder = pathlib.Path(name)
        folder.chmod(0o711)  # PostgreSQL's user must pass through it
        port = placement_server.free_port()
        trial = Trial(
            undo.enter_context(postgresql.started(folder, port)), folder
        )
        nodes = cloud.parse(cloud.listing(NEW))
        trial.make(nodes)
        check = functools.partial(trial.check, nodes)
        _print(trial.compared(list(writing(nodes)), check))
        for count in FEW:
            trial.make(nodes[:count], CROWD - count)
            _print(trial.compared(list(looking(nodes[:count]))))


def _print(found: dict[str, measure.Summary]) -> None:
    sys.stdout.write(f'{measure.table(found)}\n\n')
    sys.stdout.flush()


def _creation(node: cloud.Provider) -> Request:
    return ('POST', _LIST, {'uuid': node['uuid'], 'name': node['name']})


def _traits(node: cloud.Provider) -> Request:
    body = {
        'resource_provider_generation': 0,
        'traits': cloud.reported_traits(node, is_root=True),
    }
    return ('PUT', f'{_LIST}/{node["uuid"]}/traits', body)


def _aggregates(node: cloud.Provider) -> Request:
    body = {
        'resource_provider_generation': 1,
        'aggregates': node['aggregates'],
    }
    return ('PUT', f'{_LIST}/{node["uuid"]}/aggregates', body)


def _inventory(node: cloud.Provider) -> dict[str, object]:
    return {
        'resource_provider_generation': 2,
        'inventories': node['inventory'],
    }


def _send_all(server: Server, requests: Sequence[Request]) -> list[bytes]:
    """Return the bodies of the answers; requests run in parallel."""
    with futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(functools.partial(_send, server), requests))


def _send(server: Server, request: Request) -> bytes:
    """Return the body of an answer.

    :raises placement_server.Failed: placement refuses
    """
    status, answer = server.request(*request)
    if status >= 300:
        method, path, _ = request
        raise placement_server.Failed(f'{method} {path}: {answer!r}')
    return answer


if __name__ == '__main__':
    main()
