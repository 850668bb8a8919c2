# SPDX-License-Identifier: Apache-2.0
"""What keeps a cycle from doing too much, or the same thing for ever."""

import dataclasses

from planted.catalogue import plant

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.departures import batches, departed_nodes
from compute_agent.cycle.node import node_cycle, node_planner, setbacks
from compute_agent.limits import backoff, blast_radius, judgement
from compute_agent.plan.diff import diff
from compute_agent.provider_config import files
from compute_agent.state import approvals
from report_client.apply import executor


@plant(
    diff._without,
    'one unknown standard trait stops all other writes',
)
def _(without, one, _traits, classes):
    return without(one, set(), classes)


@plant(
    blast_radius.lost_classes,
    'a class that becomes fully reserved does not count as removed',
)
def _(lost_classes, before, after):
    return lost_classes(before, after) - after.keys()


@plant(judgement._is_sudden, 'any number of providers may be deleted')
def _(_is_sudden, _providers, _share, _of, _limits):
    return False


@plant(
    judgement._beyond_budget, 'a cycle deletes any number of departed nodes'
)
def _(_beyond_budget, _cases, _budget):
    return frozenset()


@plant(
    blast_radius.exceeded_classes,
    'totals may fall as far as they like',
    in_runs=True,
)
def _(_exceeded, _changes, _before, _percent):
    return {}


@plant(batches.newly_left, 'a mass of departures is forgotten')
def _(newly_left, *args):
    return {
        uuid: dataclasses.replace(node, left_of=0)
        for uuid, node in newly_left(*args).items()
    }


@plant(
    approvals.Approvals.approved, 'an approval covers any change of its kind'
)
def _(_approved, self, subjects):
    with self._database.reading() as db:
        query = 'select kind, who from approval'
        persons = dict(db.execute(query).fetchall())
    return {s: persons[s.kind.value] for s in subjects if s.kind in persons}


@plant(
    node_planner.NodePlanner.wait,
    'a waiting node asks for allocations in each cycle',
)
def _(_wait, _self, _node):
    return None


@plant(
    departed_nodes.Departures.gone,
    'departed nodes that wait cost a second list',
)
def _(_gone, _self, _nodes):
    return []


@plant(
    resource_tracker.ResourceTracker._others,
    'shares are of the chosen nodes only',
)
def _(_others, _self, _listed, _chosen):
    return {}


@plant(judgement._without, 'an approval is of a whole set only')
def _(_without, case, _approved):
    return case


@plant(approvals.Approvals.drop, 'an approval is never used up')
def _(_drop, _self, _subjects):
    return None


@plant(
    setbacks.Conflicts.allow_replan,
    'replanning after conflicts has no limit',
)
def _(allow_replan, self, met):
    return allow_replan(self, met) or self._replans < 9


@plant(
    setbacks.Conflicts.pause,
    'a conflict is met with a new look at once',
)
def _(_pause, _self):
    return None


@plant(
    setbacks.Refusals.delayed,
    'a refused write is sent in every cycle',
)
def _(_delayed, _self, _planned):
    return None


@plant(
    backoff.Backoff.has_refusals,
    'a node with refused writes starves the others',
)
def _(_has_refusals, _self, _node_uuid):
    return False


@plant(
    executor.Executor._send,
    'a write that was never sent counts as possibly done',
)
def _(send, self, progress, step):
    step.unsure = not step.failed
    send(self, progress, step)


@plant(
    node_cycle.NodeCycle._end,
    "an outage repeats one node's results for every node",
)
def _(end, self, status, reason, *, outage=None):
    if outage is not None:
        first = getattr(outage, '__cause__', None) or outage
        self._applied += getattr(first, 'applied', ())
        outage.applied = tuple(self._applied)
    end(self, status, reason, outage=outage)


@plant(
    files.ProviderConfigFiles.reload,
    'an invalid provider-config file discards the valid ones in force',
)
def _(reload, self):
    self._entries = None
    reload(self)
