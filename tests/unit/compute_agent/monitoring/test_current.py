# SPDX-License-Identifier: Apache-2.0
"""The nodes as metrics, after cycles of each kind."""

import prometheus_client
import pytest

from compute_agent.cmd.control.node_states import Moment
from compute_agent.cmd.run import status
from compute_agent.cycle.node.node_result import HeldChange, NodeResult, Status
from compute_agent.limits import approval
from compute_agent.monitoring import current
from compute_agent.plan import plan
from compute_agent.tree.node import Node

FIRST = '11111111-1111-4111-8111-111111111111'
SECOND = '22222222-2222-4222-8222-222222222222'
NOON = 1769860800.0
OLDEST = 'nodes_oldest_success_timestamp_seconds'


class Cycles:
    """Cycles of a daemon that began at noon; a test moves the clock."""

    def __init__(self):
        self.now = NOON
        self.status = status.DaemonStatus(
            lambda: Moment(date=self.now, uptime=self.now)
        )
        self.current = current.Current(
            self.status,
            breaker_is_open=lambda: False,
            interval=lambda: 60.0,
            names=0,
        )
        self._registry = prometheus_client.CollectorRegistry()
        self._registry.register(self.current)

    def end(self, *results):
        self.now += 60
        self.current.end_cycle(results, self.now)

    def value(self, name, **labels):
        return self._registry.get_sample_value(f'compute_agent_{name}', labels)


@pytest.fixture
def cycles():
    return Cycles()


PLAN = plan.Plan(node_uuid=FIRST, operations=(), before={})


def result(one=Status.FAILED, node=FIRST, **kwargs):
    return NodeResult(node=Node(uuid=node, name=node), status=one, **kwargs)


def test_in_the_first_cycle_a_node_counts_from_the_daemon_s_start(cycles):
    cycles.end(result())
    assert cycles.value(OLDEST) == NOON
    cycles.end(result())
    assert cycles.value(OLDEST) == NOON


@pytest.mark.parametrize('before', [(), (result(Status.DONE),)])
def test_a_node_that_comes_later_counts_from_its_first_cycle(cycles, before):
    """Else the alert for a node that is not done would fire at once."""
    cycles.end(*before)
    cycles.now += 86_400
    cycles.end(result(Status.DONE), result(node=SECOND))
    came = cycles.now
    cycles.end(result(Status.DONE), result(node=SECOND))
    assert cycles.value(OLDEST) == came


def test_an_outage_leaves_what_waits_for_a_person_as_it_is(cycles):
    subject = approval.Subject(kind=approval.Kind.CAPACITY, digest='1')
    removal = HeldChange(subject=subject, text='lower VCPU')
    waits = {'contended': ('an item',), 'removals': (removal,)}

    def counted():
        held = cycles.value('held_changes', kind='capacity')
        return held, cycles.value('contended_items')

    cycles.end(result(plan=PLAN, **waits))
    cycles.end(result(outage=True, reasons=('no answer',)))
    assert counted() == (1, 1)
    cycles.end(result(plan=PLAN))
    assert counted() == (0, 0)


class Share:
    """An agent's part in its share."""

    share, take_overs, behind, away = 'rack1', 0, 7, None
    epoch, beat_age = None, 4.0


def test_an_agent_without_a_share_has_no_metrics_of_one(cycles):
    assert cycles.value('lease_held', share='rack1') is None


def test_the_part_of_an_agent_in_its_share_is_counted(cycles):
    cycles.current.lease = one = Share()

    def values(*names):
        return [cycles.value(name, share='rack1') for name in names]

    lease = ('lease_held', 'lease_epoch', 'lease_take_overs_total')
    record = ('shared_record_behind', 'lease_beat_age_seconds')
    assert values(*lease, *record) == [0, 0, 0, 7, 4]
    assert values('shared_database_up') == [1]
    one.epoch, one.take_overs, one.away = 3, 2, OSError('away')
    assert values(*lease, 'shared_database_up') == [1, 3, 2, 0]
