# SPDX-License-Identifier: Apache-2.0
"""Six hours of three agents in trouble, as samples that Prometheus can load.

The agents are real, and so is the placement, which runs in this process. Only
the clock is made: a cycle a minute, and a scrape after each. What the agents
measure, such as the duration of a cycle, is as it was in this run.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping

import memory_leases
from agents import Agent, AgentFactory, Operator
from keystoneauth1 import exceptions
from monitored import Monitored

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Control
from compute_agent.fleet.membership import Membership
from compute_agent.limits.backoff import Backoff
from compute_agent.limits.blast_radius import Limits
from compute_agent.limits.contention import Contention
from compute_agent.testing import Placement
from compute_agent.testing.fixtures.in_process import Request
from compute_agent.transport import watched
from compute_agent.tree.provider_tree import ProviderTree
from compute_agent.virt import driver_calls

BEGIN = 1_769_839_200.0  # 2026-01-31 06:00:00 UTC
MINUTES = 360
MINUTE = 60.0
HOSTS = ('cn1', 'cn2', 'cn3')
OWN = 'HW_CPU_X86_AVX'
CHANGING = 'HW_CPU_X86_SSE'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'


class Clock:
    """The time of the day: full minutes, and what passes within one."""

    def __init__(self) -> None:
        self.move_to(0)

    def move_to(self, minute: int) -> None:
        """Begin a minute."""
        self._base = BEGIN + minute * MINUTE
        self._began = time.perf_counter()

    def __call__(self) -> float:
        """Return seconds since the epoch."""
        return self._base + time.perf_counter() - self._began


@dataclasses.dataclass(slots=True)
class Host:
    """An agent of four nodes, and what its driver says of them."""

    name: str
    nodes: Mapping[str, str]
    traits: set[str] = dataclasses.field(default_factory=lambda: {OWN})
    total: int = 8
    fails: bool = False
    hangs: bool = False
    agent: Agent | None = None
    lease: Membership | None = None
    one: Monitored | None = None

    @property
    def first(self) -> str:
        """The uuid of its first node."""
        return next(iter(self.nodes))

    def describe(self, tree: ProviderTree, node: str) -> None:
        """Describe a node, as a driver does."""
        if self.fails and node == self.nodes[self.first]:
            raise errors.DriverError('the driver is away')
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        # A trait that comes and goes on one node of four is no mass.
        lacks = set() if node == self.nodes[self.first] else {CHANGING}
        tree.update_traits(node, self.traits - lacks)


def _host(number: int, name: str) -> Host:
    nodes = {
        f'{number}{n}111111-1111-4111-8111-111111111111': f'{name}-node-{n}'
        for n in range(1, 5)
    }
    return Host(name=name, nodes=nodes)


def _control(clock: Clock) -> Control:
    return Control(
        limits=Limits,
        back_off=Backoff(clock),
        contention=Contention(clock),
    )


class Day:
    """The run, minute by minute."""

    def __init__(self, placement: Placement, make: AgentFactory) -> None:
        self._placement = placement
        self._operator = Operator(placement)
        self._clock = Clock()
        self._conflicts: Iterator[tuple[str, ...]] = iter(())
        self._hosts = [_host(n, name) for n, name in enumerate(HOSTS, 1)]
        leases = memory_leases.MemoryLeases()
        for host in self._hosts:
            host.lease = memory_leases.member(
                leases, host.name, self._clock, share=f'share-of-{host.name}'
            )
            host.lease.note('')
            host.agent = make(
                host.describe,
                nodes=host.nodes,
                clock=self._clock,
                control=_control(self._clock),
            )
            self._start(host)
        for prefix, adapter in list(placement.session.adapters.items()):
            placement.session.mount(prefix, watched.WatchedAdapter(adapter))

    def lines(self) -> Iterator[str]:
        """Run all cycles; yield the samples as OpenMetrics has them."""
        for minute in range(MINUTES):
            self._clock.move_to(minute)
            self._happen(minute)
            for host in self._hosts:
                self._cycle(host)
                yield from self._scrape(host)
        yield '# EOF'

    def _start(self, host: Host) -> None:
        """Give the agent the metrics of a daemon that starts now."""
        assert host.agent is not None  # noqa: S101 (made above)
        host.one = Monitored(
            host.agent,
            self._clock,  # type: ignore[arg-type]
            names=10,
            lease=host.lease,
        )

    def _cycle(self, host: Host) -> None:
        one = host.one
        assert one is not None  # noqa: S101 (made above)
        assert host.lease is not None  # noqa: S101 (made above)
        host.lease.look()
        if host.hangs:
            if one.status.running_since is None:
                one.listeners.begin()
            return
        with (
            watched.SENT.watching(one.metrics.sent),
            driver_calls.CALLS.watching(one.metrics.called),
        ):
            one.cycle()

    def _scrape(self, host: Host) -> Iterator[str]:
        assert host.one is not None  # noqa: S101 (made above)
        when = f'{self._clock():.3f}'
        for name, value in {'up': 1.0, **host.one.scrape()}.items():
            metric, _, labels = name.partition('{')
            own = f'instance="{host.name}:9733",job="compute-agent"'
            both = ','.join(filter(None, [labels.rstrip('}'), own]))
            number = 'NaN' if value != value else repr(value)  # noqa: PLR0124
            yield f'{metric}{{{both}}} {number} {when}'

    def _happen(self, minute: int) -> None:
        """Do what happens in this minute."""
        if minute % 20 == 10:
            for host in self._hosts:
                host.traits ^= {CHANGING}
        for begin, end, happens in self._troubles():
            if begin <= minute <= end:
                happens(minute - begin, minute == end)

    def _troubles(
        self,
    ) -> list[tuple[int, int, Callable[[int, bool], object]]]:
        """Return the first and the last minute of each trouble."""
        return [
            (25, 45, self._drift),
            (80, 90, self._outage),
            (120, 120, self._restart),
            (200, 205, self._released),
            (140, 190, self._held),
            (170, 215, self._refused),
            (225, 330, self._contended),
            (235, 250, self._driver_away),
            (270, 290, self._busy),
            (305, 318, self._hang),
        ]

    def _drift(self, minute: int, _last: bool) -> None:  # noqa: FBT001
        if minute % 10 == 0:
            for uuid in self._hosts[0].nodes:
                self._operator.remove_traits(OWN, uuid=uuid)

    def _outage(self, minute: int, last: bool) -> None:  # noqa: FBT001
        if minute == 0:
            away = exceptions.ConnectFailure('refused')
            self._placement.fault('*', away, times=None)
        if last:
            self._placement.mend()

    def _restart(self, _minute: int, _last: bool) -> None:  # noqa: FBT001
        self._start(self._hosts[0])

    def _released(self, minute: int, _last: bool) -> None:  # noqa: FBT001
        lease = self._hosts[1].lease
        assert lease is not None  # noqa: S101 (made above)
        lease.note('' if minute == 5 else 'placement is away')
        if minute == 0:
            lease.leave()

    def _held(self, _minute: int, last: bool) -> None:  # noqa: FBT001
        self._hosts[1].total = 8 if last else 1

    def _refused(self, minute: int, last: bool) -> None:  # noqa: FBT001
        if minute == 0:
            where = f'PUT *{self._hosts[2].first}/traits'
            self._placement.fault(where, 400, times=None)
        if last:
            self._placement.mend()

    def _contended(self, _minute: int, _last: bool) -> None:  # noqa: FBT001
        first = self._hosts[0].first
        self._operator.remove_traits(OWN, uuid=first)

    def _driver_away(self, _minute: int, last: bool) -> None:  # noqa: FBT001
        self._hosts[2].fails = not last

    def _busy(self, minute: int, _last: bool) -> None:  # noqa: FBT001
        host = self._hosts[1]
        host.traits ^= {'HW_CPU_X86_SSE2'}
        self._conflicts = iter([(AGGREGATE,) if minute % 2 else ()])
        if minute == 0:
            self._placement.before_request(self._meanwhile)

    def _hang(self, _minute: int, last: bool) -> None:  # noqa: FBT001
        self._hosts[2].hangs = not last

    def _meanwhile(self, request: Request) -> None:
        """Change a provider between the agent's read and its write."""
        uuid = self._hosts[1].first
        if request.method == 'PUT' and request.path.endswith(f'{uuid}/traits'):
            for aggregates in self._conflicts:
                self._operator.set_aggregates(*aggregates, uuid=uuid)


def samples() -> Iterator[str]:
    """Yield the lines of the day in OpenMetrics' format."""
    with Placement() as placement:
        make = AgentFactory(placement)
        with contextlib.closing(make):
            yield from Day(placement, make).lines()
