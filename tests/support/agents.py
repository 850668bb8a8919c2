# SPDX-License-Identifier: Apache-2.0
"""Agents over the ``placement`` fixture, so that a test reads in five lines.

``agent_factory(describe)`` builds an agent as the command line does, around a
driver written in the test: a function of a tree and a node's name. Every call
makes a new agent; with the ``state`` of another agent, it is that one after a
restart. ``operator`` is another writer on the same placement.
"""

import collections.abc
import dataclasses
import fnmatch
import os
import pathlib
import typing

import pytest
from keystoneauth1 import adapter, session, token_endpoint

from compute_agent import errors, testing
from compute_agent.cmd.wiring import agent
from compute_agent.cmd.wiring.agent_settings import Settings
from compute_agent.cmd.wiring.building import Fleet, build_agent
from compute_agent.cycle import resource_tracker
from compute_agent.cycle.departures import other_shares
from compute_agent.cycle.node.node_result import NodeResult
from compute_agent.limits import backoff, blast_radius
from compute_agent.ownership import policy, resolve
from compute_agent.plan import needs, observation, plan
from compute_agent.plan.diff import diff
from compute_agent.plan.plan import Plan
from compute_agent.provider_config import files
from compute_agent.state import state
from compute_agent.testing.fixtures import in_process
from compute_agent.tree import host_inventory, inventory, provider_tree
from compute_agent.virt import driver as virt
from compute_agent.virt import drivers
from report_client.http import placement

NODE = '11111111-1111-4111-8111-111111111111'
NAME = 'node-1'
# Drivers of tests know their nodes' uuids: no file of the host is read.
NO_DIRECTORY = pathlib.Path(os.devnull)
NO_RATIOS = inventory.Ratios()
NOTHING_RESERVED = host_inventory.Reserved()

Describe: typing.TypeAlias = collections.abc.Callable[
    [provider_tree.ProviderTree, str], object
]


@dataclasses.dataclass(slots=True)
class Clock:
    """A clock that a test sets."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Driver(virt.ComputeDriver):
    """A driver whose description is a function; a test may change it.

    :cvar node_filter: of a driver of many nodes, whose roots get a mark
    :ivar nodes: uuid → name
    :ivar missing: what ``node_exists`` says of a node that is not listed
    :ivar existing: name → what it says of this one, or raises
    :ivar asked: the names that it was asked for
    """

    node_filter: collections.abc.Mapping[str, str] | None = None

    def __init__(
        self,
        describe: Describe,
        *,
        nodes: collections.abc.Mapping[str, str] | None = None,
        authority: collections.abc.Sequence[str] = (),
        missing: virt.Existence = virt.Existence.UNKNOWN,
    ) -> None:
        self.describe = describe
        self.nodes = dict(nodes or {NODE: NAME})
        self._authority = authority
        self.missing = missing
        self.existing: dict[str, virt.Existence | Exception] = {}
        self.asked: list[str] = []

    @classmethod
    def from_conf(cls, conf: typing.Any) -> typing.Self:
        raise errors.ConfigError('a test makes this driver itself')

    @property
    def authority(self) -> collections.abc.Sequence[str]:
        return self._authority

    def get_available_nodes(self) -> collections.abc.Sequence[str]:
        return list(self.nodes.values())

    def get_nodenames_by_uuid(self) -> collections.abc.Mapping[str, str]:
        return self.nodes

    def node_exists(self, nodename: str) -> virt.Existence:
        self.asked.append(nodename)
        if nodename in self.nodes.values():
            return virt.Existence.YES
        answer = self.existing.get(nodename, self.missing)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: typing.Any = None,
    ) -> None:
        self.describe(provider_tree, nodename)


class Agent:
    """One wired agent."""

    def __init__(self, wired: agent.Agent) -> None:
        self.driver = wired.drivers.first
        self.state = wired.state
        self.client = wired.client
        self.tracker = wired.tracker
        self.stand_by = wired.stand_by

    def sync(self) -> list[NodeResult]:
        """Run one cycle; return each node's result."""
        return self.tracker.sync()

    def plan(self) -> list[NodeResult]:
        """Plan a cycle; return each node's result."""
        return self.tracker.plan()

    def cycle(self) -> NodeResult:
        """Run one cycle of the only node; return its result."""
        (result,) = self.sync()
        return result

    def plan_for(
        self,
        tree: provider_tree.ProviderTree,
        seen: observation.Observation,
    ) -> Plan:
        """Return the plan for a tree that the test edited, after resolving it."""
        uuids = {*seen.providers, *tree.get_provider_uuids()}
        resolved = resolve.resolve(
            tree,
            seen.node_uuid,
            self.state.records.record(uuids, seen.node_uuid),
            policy.Policy(),
        )
        wanted = plan.Wanted(
            after=resolved.after,
            claims=resolved.claims,
            foreign=resolved.foreign,
            notes=resolved.notes,
        )
        known = needs.NOTHING
        while not isinstance(made := diff.plan(seen, wanted, known), Plan):
            known = known.plus(self.client.read(made))
        return made

    def applied(self, made: Plan) -> collections.abc.Sequence[object]:
        """Send a plan to its end; return what was carried out.

        :raises errors.AgentError: the error that ended it, or a conflict
        """
        outcome = self.client.apply(made)
        for exc in (outcome.ended_by, *(c.error for c in outcome.conflicts)):
            if exc is not None:
                raise exc
        return outcome.applied

    def done(self) -> list[NodeResult]:
        """Run one cycle; every node must be done."""
        results = self.sync()
        for result in results:
            assert result.is_settled, result
        return results


class AgentFactory:
    """Makes agents for one placement; closes the states that it opened."""

    def __init__(self, service: typing.Any) -> None:
        self._service = service
        self._opened: list[state.State] = []

    def __call__(
        self,
        driver: virt.ComputeDriver | drivers.Drivers | Describe,
        *,
        state: state.State | pathlib.Path | None = None,
        nodes: collections.abc.Mapping[str, str] | None = None,
        authority: collections.abc.Sequence[str] = (),
        ratios: inventory.Ratios = NO_RATIOS,
        reserved: host_inventory.Reserved = NOTHING_RESERVED,
        workers: int = 1,
        files: files.ProviderConfigFiles | None = None,
        clock: collections.abc.Callable[[], float] | None = None,
        full_read_interval: float = 3600,
        sharing_interval: float = 300,
        fall_wait: float = 0,
        max_removed_percent: float | None = 20,
        may_begin: collections.abc.Callable[[], object] = bool,
        shares: other_shares.Shares | None = None,
        takes_over: bool = True,
        is_confirmed: bool = False,
        marks_nodes: bool = True,
        share: str = '',
        recreate_roots: bool = True,
        mode: policy.Mode | None = None,
        control: resource_tracker.Control | None = None,
        directories: collections.abc.Sequence[pathlib.Path] = (NO_DIRECTORY,),
    ) -> Agent:
        """Return an agent.

        :param driver: a driver, several drivers, or a function that
            describes a node
        :param state: a state, its directory, or None for a new state
        :param nodes: uuid → name; only for a function, like ``authority``
        :param max_removed_percent: None lifts all limits, like ``--yes``
        :param takes_over: False to ask before the first write to another
            writer's provider; most tests are not about that
        :param directories: where the uuid of the host is
        """
        if not isinstance(driver, virt.ComputeDriver | drivers.Drivers):
            driver = Driver(driver, nodes=nodes, authority=authority)
        settings = Settings(
            identity_directories=directories,
            ratios=ratios,
            reserved=reserved,
            full_read_interval=full_read_interval,
            sharing_interval=sharing_interval,
            fall_wait=fall_wait,
            workers=workers,
            takes_over=takes_over,
            is_confirmed=is_confirmed,
            marks_nodes=marks_nodes,
            share=share,
            recreate_roots=recreate_roots,
            mode=mode,
        )
        return Agent(
            build_agent(
                settings,
                drivers=drivers.Drivers.only(driver)
                if isinstance(driver, virt.ComputeDriver)
                else driver,
                service=self._placement(),
                state=self._state(state),
                files=files,
                clock=clock or Clock(),
                control=control or _control(max_removed_percent),
                fleet=Fleet(may_begin=may_begin, shares=shares),
            )
        )

    def close(self) -> None:
        """Close the states opened here."""
        for opened in self._opened:
            opened.close()

    def _state(self, given: state.State | pathlib.Path | None) -> state.State:
        if isinstance(given, state.State):
            return given
        opened = (
            state.State.in_memory('test')
            if given is None
            else state.State.open(given, 'test')
        )
        self._opened.append(opened)
        return opened

    def _placement(self) -> placement.Placement:
        made = session.Session(
            auth=token_endpoint.Token(self._service.url, 'admin'),
            session=self._service.session,
        )
        through = adapter.Adapter(made, service_type='placement')
        # A test may put something between the two.
        via = getattr(self._service, 'via', lambda adapter: adapter)
        fence = getattr(self._service, 'fence', None)
        return placement.Placement(via(through), 'placement', fence)


def _control(percent: float | None) -> resource_tracker.Control:
    """Return a control whose backoff retries refused writes in every cycle."""
    limits = None if percent is None else blast_radius.Limits(percent=percent)
    return resource_tracker.Control(
        limits=lambda: limits,
        back_off=backoff.Backoff(lambda: 0.0, spread=lambda _low, _high: 0.0),
    )


class Operator:
    """Another writer on the same placement; by default at ``NODE``."""

    def __init__(self, placement: testing.Placement) -> None:
        self._placement = placement
        self._writer = placement.others
        self.create = self._writer.create
        self.delete = self._writer.delete
        self.generation = self._writer.generation

    def traits(self, uuid: str = NODE) -> set[str]:
        """Return a provider's traits."""
        return self._writer.traits(uuid)

    def aggregates(self, uuid: str = NODE) -> set[str]:
        """Return a provider's aggregates."""
        return self._writer.aggregates(uuid)

    def inventories(self, uuid: str = NODE) -> dict[str, typing.Any]:
        """Return a provider's inventories."""
        return self._writer.inventories(uuid)

    def add_traits(self, *names: str, uuid: str = NODE) -> None:
        """Add traits to a provider; create the custom ones."""
        self._writer.add_traits(uuid, *names)

    def remove_traits(self, *names: str, uuid: str = NODE) -> None:
        """Remove traits from a provider."""
        self._writer.remove_traits(uuid, *names)

    def set_aggregates(self, *uuids: str, uuid: str = NODE) -> None:
        """Set a provider's aggregates."""
        self._writer.set_aggregates(uuid, *uuids)

    def set_inventories(
        self, records: dict[str, typing.Any], uuid: str = NODE
    ) -> None:
        """Set a provider's inventories."""
        self._writer.set_inventories(uuid, records)

    def change_inventory(
        self, rc: str, uuid: str = NODE, **fields: float
    ) -> None:
        """Change fields of one inventory; create it if missing."""
        self._writer.change_inventory(uuid, rc, **fields)

    def allocate(self, consumer: str, rc: str, uuid: str = NODE) -> None:
        """Allocate one unit of a class; this raises the generation."""
        self._writer.allocate(uuid, consumer, {rc: 1})

    def holdings(self) -> dict[str, typing.Any]:
        """Return all providers by name, without the generations."""
        listed = self._placement.get('/resource_providers')
        providers = listed['resource_providers']
        names = {p['uuid']: p['name'] for p in providers}
        return {
            p['name']: {
                'uuid': p['uuid'],
                'parent': names.get(p['parent_provider_uuid']),
                'inventories': self.inventories(p['uuid']),
                'traits': self.traits(p['uuid']),
                'aggregates': self.aggregates(p['uuid']),
            }
            for p in providers
        }


def meddle(
    placement: testing.Placement,
    act: collections.abc.Callable[[], object],
    match: str = 'PUT *',
    times: int = 1,
) -> None:
    """Let another writer act just before the first requests that match.

    :param match: a pattern of METHOD and path, as that of a fault
    """
    left = [act] * times

    def hook(request: in_process.Request) -> None:
        if left and fnmatch.fnmatchcase(str(request), match):
            left.pop()()

    placement.before_request(hook)


def sent(placement: typing.Any) -> list[str]:
    """Return the recorded requests as short lines, oldest first.

    ``PUT {uuid}/traits`` for ``/resource_providers/{uuid}/traits``, and the
    name of ``NODE`` for its uuid.
    """
    return [
        str(request).replace('/resource_providers/', '').replace(NODE, NAME)
        for request in placement.requests
    ]


@pytest.fixture
def agent_factory(
    placement: typing.Any,
) -> collections.abc.Iterator[AgentFactory]:
    """Agents on this test's placement."""
    factory = AgentFactory(placement)
    yield factory
    factory.close()


@pytest.fixture
def clock() -> Clock:
    """A clock that a test sets."""
    return Clock()


@pytest.fixture
def operator(placement: typing.Any) -> Operator:
    """Another writer on this test's placement."""
    return Operator(placement)
