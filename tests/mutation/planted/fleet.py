# SPDX-License-Identifier: Apache-2.0
"""Which of several agents may write, and for how long."""

import contextlib
import dataclasses
import time

from planted.catalogue import plant

from compute_agent import errors
from compute_agent.cycle.node import node_cycle, node_result
from compute_agent.fleet import fence, membership, overview
from compute_agent.fleet.values import roles
from compute_agent.transport import deadline
from report_client.http import placement


@plant(fence.uptime, 'a beat counts by the wall clock', in_fleets=True)
def _(_uptime):
    return time.time()


@plant(fence.Fence.renew, 'a beat counts from its answer', in_fleets=True)
def _(renew, self, _sent):
    renew(self, self._clock())


@plant(
    membership.Membership.may_write,
    'a deposed agent goes on writing until its next beat',
)
def _(_may_write, self):
    return self._seconds


@plant(
    membership.Membership._holding,
    'a cycle goes on under a lease that it did not begin with',
)
def _(_holding, self):
    if self._held is None:
        raise errors.Deposed('planted')
    return self._held


@plant(
    membership.Membership._lose,
    'a deposed agent keeps its role',
    in_fleets=True,
)
def _(_lose, _self, _held, _exc):
    return None


@plant(overview.look, 'the age of a beat is by the wall clock')
def _(look, leases, clock=None, sleep=time.sleep):
    return look(leases, clock or time.time, sleep)


@plant(overview._patience, 'a dead standby is waited for as long as a holder')
def _(patience, _key, row):
    return patience(('', ''), row)


@plant(
    roles.look,
    'a standby takes a lease that it did not look at',
    in_fleets=True,
)
def _(look, before, row, asked, answered):
    if before is not None:
        before = dataclasses.replace(before, at=asked)
    return look(before, row, asked, answered)


@plant(roles.look, 'a beat counts from before the look that showed it')
def _(look, before, row, asked, _answered):
    return look(before, row, asked, asked)


@plant(
    membership.Membership._others_may_take,
    'an agent rests although nobody else is able',
)
def _(_others_may_take, _self, _row):
    return True


@plant(membership.Membership._dismiss, 'the rows of dead standbys stay')
def _(_dismiss, _self, _ended):
    return None


@plant(
    membership.Membership._judge,
    'another driver is not told',
)
def _(judge, self, row, asked):
    if row is not None:
        row = dataclasses.replace(row, driver=self._driver)
    return judge(self, row, asked)


@plant(
    membership.Membership._stand_by,
    'a standby takes a share of a database that was migrated',
)
def _(stand_by, self):
    if self._is_prepared:
        self._prepare = bool
    stand_by(self)


@plant(node_result.as_they_were, 'a node that was not tried has failed')
def _(_as_they_were, results, _before):
    return list(results)


@plant(
    roles.of_standby,
    'a standby waits only as long as its own lease',
    in_fleets=True,
)
def _(of_standby, sight, rest, seconds, **how):
    if sight.row is not None:
        row = dataclasses.replace(sight.row, seconds=seconds)
        sight = dataclasses.replace(sight, row=row)
    return of_standby(sight, rest, seconds, **how)


@plant(placement.Placement._fenced, 'the fence is not asked before a delete')
def _(fenced, self, request):
    if request.method == 'DELETE':
        return contextlib.nullcontext()
    return fenced(self, request)


@plant(deadline.fenced, 'a slow connection takes no time of the lease')
def _(_fenced, fence):
    return deadline.within(fence())


@plant(deadline._hurry, 'what a network holds back is delivered later')
def _(_hurry, _sock, _seconds):
    return None


@plant(
    node_cycle.NodeCycle._check_outage,
    'a cycle goes on after the lease was lost',
)
def _(check, self):
    self._context.may_begin = bool
    check(self)
