# SPDX-License-Identifier: Apache-2.0
"""Run one group of cases on one database, and measure them.

A first sync starts from an empty placement. The other scenarios start from
copies of the database and the state directory after it. Each case has a server
and an agent of its own. ``__main__.py`` calls this.
"""

import dataclasses
import json
import pathlib
import shutil
import time
import uuid
from collections.abc import Iterator

from . import (
    agents,
    cloud,
    contents,
    databases,
    measurement,
    placement_server,
    scenarios,
)

_EMPTY, _CROWDED, _RUN, _SYNCED = 'empty', 'crowded', 'run', 'synced'
_FLOOR_READS = 5
_WARM_UP = 2  # cycles; after them, each agent has all that it keeps
# A lasting situation is measured in several cycles, for at most 5 seconds.
_CYCLES, _ENOUGH = 5, 5.0


class Bench:
    """Measures on one database.

    :param folder: an empty one, for configuration, logs and state
    :param port: placement's port; agents record the address, so it must stay
    """

    def __init__(
        self, known: databases.Databases, folder: pathlib.Path, port: int
    ) -> None:
        self._known = known
        self._folder = folder
        self._port = port

    def prepare(self, *, crowded: bool) -> None:
        """Create the databases from which first syncs start."""
        placement_server.prepare(self._known, _EMPTY, self._folder)
        if crowded:
            self._known.copy(_EMPTY, _CROWDED)
            count = cloud.STRANGERS - scenarios.CROWDED_NODES
            contents.add_strangers(self._known, _CROWDED, count)
            self._known.run(_CROWDED, 'analyze')

    def measured(
        self, group: scenarios.Group
    ) -> Iterator[measurement.Measurement | measurement.Floor]:
        """Yield the measurements of each case of a group.

        :raises agents.Failed: an agent ended early
        :raises placement_server.Failed: placement ended early
        :raises contents.Wrong: a cycle did not write what it should
        """
        is_crowded = group.shape is scenarios.Shape.CROWDED
        for scenario in group.scenarios:
            if scenario.is_first:
                self._start(_CROWDED if is_crowded else _EMPTY, None)
            else:
                self._start(_SYNCED, self._folder / _SYNCED)
            yield from self._case(group, scenario)
            if scenario.is_first:
                self._keep()

    def _start(self, database: str, state: pathlib.Path | None) -> None:
        """Copy the database and the state for the next case."""
        run = self._folder / _RUN
        shutil.rmtree(run, ignore_errors=True)
        if state is None:
            run.mkdir()
        else:
            shutil.copytree(state, run)
        self._known.copy(database, _RUN)

    def _keep(self) -> None:
        """Keep the database and the state for the next cases."""
        self._known.run(_RUN, 'analyze')
        shutil.rmtree(self._folder / _SYNCED, ignore_errors=True)
        shutil.copytree(self._folder / _RUN, self._folder / _SYNCED)
        self._known.copy(_RUN, _SYNCED)

    def _case(
        self, group: scenarios.Group, scenario: scenarios.Scenario
    ) -> Iterator[measurement.Measurement | measurement.Floor]:
        with (
            placement_server.started(
                self._known, _RUN, self._folder, self._port
            ) as server,
            agents.started(
                group, scenario, server.url, self._folder / _RUN
            ) as agent,
        ):
            for _ in range(_WARM_UP if scenario.is_warm else 0):
                agent.cycle()
            if scenario.change is cloud.Change.ALLOCATIONS:
                _allocate(server, group.nodes)
            found = list(_measured(group, scenario, server, agent))
        nodes = cloud.listing(
            group.nodes, group.shape.tree_size, scenario.change
        )
        contents.check(self._known, _RUN, cloud.parse(nodes))
        yield from found  # only if the contents are right


def _measured(
    group: scenarios.Group,
    scenario: scenarios.Scenario,
    server: placement_server.PlacementServer,
    agent: agents.Agent,
) -> Iterator[measurement.Measurement | measurement.Floor]:
    """Measure all of a case."""
    yield from _cycles(group, scenario, server, agent)
    if scenario is scenarios.STEADY and group.agent == scenarios.OURS:
        yield _floor(group, server)


def _cycles(
    group: scenarios.Group,
    scenario: scenarios.Scenario,
    server: placement_server.PlacementServer,
    agent: agents.Agent,
) -> Iterator[measurement.Measurement]:
    """Measure a cycle; if the situation lasts, several quick ones."""
    spent = 0.0
    for _ in range(_CYCLES if scenario.is_lasting else 1):
        one = _cycle(group, scenario, server, agent)
        yield one
        spent += one.wall
        if spent >= _ENOUGH:
            return


def _cycle(
    group: scenarios.Group,
    scenario: scenarios.Scenario,
    server: placement_server.PlacementServer,
    agent: agents.Agent,
) -> measurement.Measurement:
    """Measure one cycle of the agent."""
    mark, before = server.mark(), server.processor_time()
    took = agent.cycle(scenario.change, is_stale=scenario.is_stale)
    after = server.processor_time()
    return measurement.Measurement(
        place=measurement.Place.of(group),
        scenario=scenario.name,
        agent=group.agent,
        repeat=group.repeat,
        placement_cpu=after[0] - before[0],
        database_cpu=after[1] - before[1],
        routes=server.since(mark),
        **dataclasses.asdict(took),
    )


def _floor(
    group: scenarios.Group, server: placement_server.PlacementServer
) -> measurement.Floor:
    """Measure the list request and its parsing: the least of a few times."""
    walls, parses, body = [], [], b''
    for _ in range(_FLOOR_READS):
        began = time.perf_counter()
        _, body = server.request('GET', '/resource_providers')
        read = time.perf_counter()
        json.loads(body)
        walls.append(read - began)
        parses.append(time.perf_counter() - read)
    return measurement.Floor(
        place=measurement.Place.of(group),
        wall=min(walls),
        parse=min(parses),
        length=len(body),
    )


def _allocate(server: placement_server.PlacementServer, nodes: int) -> None:
    """Allocate an instance on each changed node, as a scheduler would.

    :raises placement_server.Failed: placement refuses
    """
    changed = cloud.parse(cloud.listing(cloud.changed(nodes)))
    for node in changed:
        body = {
            'allocations': {
                node['uuid']: {'resources': {cloud.RESOURCE_CLASS: 1}}
            },
            'project_id': 'bench',
            'user_id': 'bench',
            'consumer_generation': None,
            'consumer_type': 'INSTANCE',
        }
        path = f'/allocations/{uuid.uuid4()}'
        status, answer = server.request('PUT', path, body)
        if status != 204:
            raise placement_server.Failed(f'PUT {path}: {answer!r}')
