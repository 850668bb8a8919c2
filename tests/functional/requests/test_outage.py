# SPDX-License-Identifier: Apache-2.0
"""Placement is away for ten minutes: one line out, one line in, soon back.

The daemon's loop runs a real agent. Its waits pass at once and move a clock,
which alone says when placement is away.
"""

import logging
import threading

import pytest
import requests
from oslo_config import cfg

from compute_agent.conf import compute_agent as agent_conf
from compute_agent.cycle import service

SOON = 5.0  # seconds, from placement's return to the next good cycle
OURS = ('compute_agent', 'report_client')
BEFORE, AFTER = 150.0, 300.0  # seconds of good cycles


def is_seen(record):
    """Return True if a daemon logs this; placement runs in this process."""
    return record.levelno >= logging.WARNING or record.name.startswith(OURS)


def line(record):
    return record.levelname, record.getMessage()


class Waits(threading.Event):
    """The waits of the loop, until a time of the clock."""

    def __init__(self, clock, until):
        super().__init__()
        self._clock = clock
        self._until = until

    def wait(self, timeout=None):
        self._clock.now += timeout
        if self._clock.now >= self._until:
            self.set()
        return self.is_set()


@pytest.fixture
def outage_retry():
    """The longest wait of an outage, as it is without a configuration."""
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf)
    conf([])
    return conf.compute_agent.outage_retry_interval


@pytest.fixture
def traits():
    return ['HW_CPU_X86_AVX']


@pytest.fixture
def run(agent_factory, placement, clock, traits, caplog, outage_retry):
    """Run the loop over an outage; return the lines of it and the good cycles.

    The moments of the cycles count from placement's return.
    """
    for name in OURS:
        caplog.set_level(logging.INFO, name)

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.update_traits(node, traits)

    def run(lasts, outcome, reports_then=None):
        agent = agent_factory(describe, clock=clock)
        agent.done()
        goes = clock.now + BEFORE
        returns = goes + lasts

        def is_away(_request):
            if not goes <= clock.now < returns:
                return False
            traits[:] = reports_then or traits
            return True

        fault = placement.fault(is_away, outcome, times=None)
        good = []

        def done(results):
            assert [r.status.name for r in results] == ['DONE']
            good.append(clock.now - returns)
            if len(good) == 1:
                caplog.clear()  # the first cycle introduces the node

        service.Service(
            agent.sync,
            interval=60,
            outage_retry=outage_retry,
            stop=Waits(clock, returns + AFTER),
            done=done,
            clock=clock,
        ).run()
        # Each try of the outage was one request.
        assert lasts / SOON < fault.hits < 3 * lasts / SOON
        return [line(r) for r in caplog.records if is_seen(r)], good

    return run


@pytest.mark.parametrize(
    'outcome',
    [requests.ConnectionError('Connection refused'), 503],
    ids=['refused', 'a proxy without a server'],
)
@pytest.mark.parametrize('lasts', [600.0, 604.99])
def test_it_is_one_line_out_one_line_in_and_seconds(run, lasts, outcome):
    lines, good = run(lasts, outcome)
    (out, into) = lines
    assert out[0] == 'ERROR'
    assert out[1].endswith('; retrying until it is mended')
    assert into == ('INFO', 'back after 10 min')
    assert [at for at in good if -lasts <= at < 0] == []
    assert min(at for at in good if at >= 0) <= SOON
    # The cycles keep their phase: none is skipped, and one is added.
    assert len([at for at in good if at >= 0]) == AFTER // 60 + 1


def test_the_first_good_cycle_writes_what_changed_meanwhile(run, operator):
    lines, good = run(600.0, 503, ['HW_CPU_X86_AVX512F'])
    assert min(at for at in good if at >= 0) <= SOON
    assert 'HW_CPU_X86_AVX512F' in operator.traits()
    assert [level for level, _ in lines].count('ERROR') == 1
