# SPDX-License-Identifier: Apache-2.0
"""Each alert fires when its cause is made, from what a real agent exposes.

Each agent runs a cycle a minute on a clock of the test, against the real
placement. All of its series go to promtool, which looks at all alerts: a cause
fires the alerts that are listed for a moment, and no other.
"""

import contextlib
import dataclasses
import http.client
import os
import types

import command_line
import memory_leases
import os_traits
import promtool
import pytest
from agents import Clock
from bench import OWN, Bench, World
from keystoneauth1 import exceptions
from monitored import samples
from scrapes import Scrapes

from compute_agent import errors
from compute_agent.monitoring import server, textfile
from compute_agent.monitoring.values import address
from compute_agent.virt import driver_calls
from compute_agent.virt.driver import Existence

MINUTES = 20
FOUR = {f'{n}{n * 7}-1111-4111-8111-111111111111': f'node-{n}' for n in '1234'}
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
CAUSES = []


def cause(firing):
    """Return a decorator for what makes the alerts fire at these moments."""

    def note(make):
        CAUSES.append(pytest.param(make, firing, id=make.__name__))
        return make

    return note


@pytest.fixture
def bench(placement, agent_factory, operator, tmp_path, monkeypatch):
    clock = Clock(60.0)  # the time of the second scrape
    with contextlib.ExitStack() as stack:
        yield Bench(
            placement=placement,
            make=agent_factory,
            operator=operator,
            directory=tmp_path,
            monkeypatch=monkeypatch,
            open=stack,
            clock=clock,
            scrapes=Scrapes(clock),
            world=World(),
        )
    placement.mend()


@cause({'5m': [], '20m': []})
def nothing(bench):
    bench.scrapes.cycles(bench.agent(), MINUTES)


@cause({'7m': [], '8m': ['ComputeAgentDown']})
def the_daemon_is_stopped(bench):
    one = bench.agent()
    answers = server.Answers(one.metrics.registry, one.health)
    # No other test listens there after the daemon's stop.
    port = bench.open.enter_context(command_line.kept_port())
    where = address.parse(f'127.0.0.1:{port}')
    running = server.MonitoringServer(where, answers)
    running.start()
    for minute in range(9):
        if minute == 2:
            running.close()
        try:
            bench.scrapes.take(None, up=1.0, **samples(_got(running.where)))
        except ConnectionRefusedError:
            bench.scrapes.take(None)


def _got(where):
    """Return what the server answers."""
    asked = http.client.HTTPConnection(where, timeout=60)
    with contextlib.closing(asked):
        asked.request('GET', '/metrics')
        return asked.getresponse().read().decode()


@cause(
    {
        '5m': [],
        '11m': ['ComputeAgentManyOutages'],
        '12m': [
            'ComputeAgentManyOutages',
            'ComputeAgentNoGoodCycle',
            'ComputeAgentRequestsFail',
        ],
    }
)
def placement_is_away(bench):
    one = bench.agent()
    bench.placement.fault(
        '*', exceptions.ConnectFailure('refused'), times=None
    )
    others = [f'compute_agent_outage{{instance="{n}"}}' for n in ('b', 'c')]
    for _ in range(MINUTES):
        one.cycle()
        away = samples(one.text())['compute_agent_outage']
        bench.scrapes.take(one, **dict.fromkeys(others, away))


@cause(
    {
        '10m': [],
        '12m': ['ComputeAgentCycleHangs', 'ComputeAgentNoGoodCycle'],
    }
)
def the_driver_hangs(bench):
    one = bench.agent()

    def hang():
        for _ in range(MINUTES):
            bench.scrapes.take(one)

    bench.world.before = hang
    one.cycle()


@cause({'32m': [], '33m': ['ComputeAgentRestarts']})
def the_daemon_dies_every_eight_minutes(bench):
    agent = bench.agent().agent
    for _ in range(5):
        bench.scrapes.cycles(bench.measured(agent), 8)


@cause(
    {
        '15m': [],
        '16m': ['ComputeAgentNodesFailing'],
        '61m': ['ComputeAgentNodesFailing'],
        '62m': ['ComputeAgentNodeNotDone', 'ComputeAgentNodesFailing'],
    }
)
def a_node_fails(bench):
    one = bench.agent()
    bench.world.fails = True
    bench.scrapes.cycles(one, 62)


@cause({'5m': [], '6m': ['ComputeAgentHeldChanges']})
def much_capacity_is_lost(bench):
    one = bench.agent(FOUR)
    bench.world.total = 1
    bench.scrapes.cycles(one, MINUTES)


@cause({'60m': [], '62m': ['ComputeAgentNodesLeft']})
def nodes_are_on_another_agents_list(bench):
    one = bench.agent(FOUR)
    driver = one.agent.driver
    driver.missing = Existence.YES
    driver.nodes = dict(list(driver.nodes.items())[:2])
    bench.scrapes.cycles(one, 63)


@cause({'13m': [], '14m': ['ComputeAgentContended']})
def another_writer_undoes_a_change(bench):
    one = bench.agent()
    for _ in range(MINUTES):
        bench.operator.remove_traits(OWN)
        bench.scrapes.cycles(one, 1)


@cause(
    {
        '2m': [],
        '4m': ['ComputeAgentCircuitBreakerOpen'],
        '12m': [
            'ComputeAgentCircuitBreakerOpen',
            'ComputeAgentNoGoodCycle',
            'ComputeAgentRequestsFail',
        ],
    }
)
def placement_answers_500(bench):
    one = bench.agent(FOUR)
    bench.world.traits |= {'HW_CPU_X86_AVX2'}
    bench.placement.fault('PUT */traits', 500, times=None)
    bench.scrapes.cycles(one, MINUTES)


@cause(
    {
        '30m': ['ComputeAgentNodesFailing'],
        '31m': ['ComputeAgentNodesFailing', 'ComputeAgentRefusedWrites'],
    }
)
def a_write_is_refused(bench):
    one = bench.agent()
    bench.world.traits = {'HW_CPU_X86_AVX2'}
    bench.placement.fault('PUT */traits', 400, times=None)
    bench.scrapes.cycles(one, 32)


@cause({'5m': [], '15m': ['ComputeAgentManyConflicts']})
def another_writer_writes_at_the_same_moments(bench):
    one = bench.agent()
    others = iter(())

    def meanwhile(request):
        if request.method == 'PUT':
            for aggregates in others:
                bench.operator.set_aggregates(*aggregates)
                break

    bench.placement.before_request(meanwhile)
    for _ in range(MINUTES):
        bench.world.traits ^= {'HW_CPU_X86_SSE'}
        others = iter([(AGGREGATE,), ()])
        bench.scrapes.cycles(one, 1)


@cause({'3m': [], '6m': ['ComputeAgentDrift']})
def another_writer_removes_twelve_traits(bench):
    bench.world.traits = set(os_traits.get_traits('HW_CPU_X86_')[:12])
    one = bench.agent()
    bench.scrapes.cycles(one, 3)
    bench.operator.remove_traits(*bench.world.traits)
    bench.scrapes.cycles(one, 3)


@cause(
    {
        '14m': [],
        '20m': ['ComputeAgentDriverSlow'],
        '80m': ['ComputeAgentCyclesLate', 'ComputeAgentDriverSlow'],
    }
)
def the_driver_takes_55_seconds(bench):
    one = bench.agent()
    bench.monkeypatch.setattr(
        driver_calls, 'time', types.SimpleNamespace(monotonic=bench.clock)
    )

    def work():
        bench.clock.now += 55

    bench.world.before = work
    bench.scrapes.cycles(one, 80)


@cause(
    {
        '13m': [],
        '14m': ['ComputeAgentNoGoodCycle', 'ComputeAgentTextfileStale'],
    }
)
def the_file_cannot_be_written(bench):
    """Prometheus asks node_exporter, which reads the file as it is."""
    one = bench.agent()
    path = bench.directory / 'compute-agent.prom'
    file = textfile.TextFile(path, lambda: one.text().encode())
    mtime = f'node_textfile_mtime_seconds{{file="{path}"}}'
    for minute in range(MINUTES):
        if minute == 3:
            path.with_name(f'.{path.name}.new').mkdir()  # in the way
        one.cycle()
        before = path.stat().st_ino if path.exists() else None
        file.write()
        if path.stat().st_ino != before:
            os.utime(path, (bench.clock.now, bench.clock.now))
        bench.scrapes.take(
            None,
            up=1.0,
            **{mtime: path.stat().st_mtime},
            **samples(path.read_text()),
        )


def in_a_share(bench):
    """Return a measured agent, its membership and its leases."""
    leases = memory_leases.MemoryLeases()
    member = memory_leases.member(leases, 'one', bench.clock)
    member.note('')
    member.look()
    one = bench.measured(bench.agent().agent, member)
    return one, member, leases


@cause({'3m': [], '5m': ['ComputeAgentNoHolder']})
def nobody_takes_the_lease(bench):
    one, member, _ = in_a_share(bench)
    bench.scrapes.cycles(one, 2)
    member.leave()  # and rests
    bench.scrapes.cycles(one, 5)


@cause({'3m': [], '12m': ['ComputeAgentHolderFlaps']})
def the_lease_is_taken_again_and_again(bench):
    one, member, _ = in_a_share(bench)
    for _ in range(MINUTES):
        bench.scrapes.cycles(one, 1)
        member.leave()
        member.look()


@cause({'3m': [], '5m': ['ComputeAgentSharedDatabaseAway']})
def the_shared_database_is_away(bench):
    one, member, leases = in_a_share(bench)
    bench.scrapes.cycles(one, 2)
    leases.away = True
    with contextlib.suppress(errors.Unavailable):
        member.look()
    bench.scrapes.cycles(one, 5)


@cause({'3m': [], '15m': ['ComputeAgentRecordLags']})
def a_standby_does_not_follow(bench):
    one, member, leases = in_a_share(bench)
    bench.scrapes.cycles(one, 2)
    member.leave()
    memory_leases.member(leases, 'two', bench.clock).look()
    share = memory_leases.SHARE
    leases.rows[share] = dataclasses.replace(leases.rows[share], sequence=99)
    member.look()
    holder = f'compute_agent_lease_held{{share="{share}",instance="two"}}'
    for _ in range(MINUTES):
        one.cycle()
        bench.scrapes.take(one, **{holder: 1.0})


@pytest.mark.parametrize(('make', 'firing'), CAUSES)
def test_a_cause_fires_its_alerts_and_no_other(make, firing, bench, tmp_path):
    make(bench)
    promtool.judge(
        bench.scrapes.series(), tmp_path, alerts='.+', firing=firing
    )


def test_each_alert_has_a_cause():
    made = {
        alert
        for one in CAUSES
        for alerts in one.values[1].values()
        for alert in alerts
    }
    assert made == set(promtool.ALERTS)


def test_promtool_finds_the_metrics_well_formed(bench):
    promtool.run('check', 'metrics', given=bench.agent().text())
