# SPDX-License-Identifier: Apache-2.0
"""What is read, how often, and what that costs."""

import dataclasses
import threading

from planted.catalogue import plant, stand_in, together
from variants import Plant

from compute_agent.cycle.node import node_cycle, node_planner, node_policies
from compute_agent.cycle.planning import empty_plans
from compute_agent.ownership import in_use
from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops
from compute_agent.state import journal, replica, snapshot
from compute_agent.tree import hierarchy, provider_tree
from compute_agent.tree.assertion import Kind
from report_client import client
from report_client.http import placement
from report_client.observe import (
    cached_reader,
    lone_roots,
    observation,
    observer,
    whole_homes,
)


@plant(
    cached_reader.CachedReader.use_warm,
    'the readings of a standby are not used',
)
def _(_use_warm, _self, _builders, _since):
    return None


@plant(
    cached_reader.CachedReader.warm,
    'a standby keeps its readings as a holder does',
)
def _(_warm, self, builders, _may_go_on, _workers):
    for builder in builders:
        self.read(builder, builder.rows)


@plant(node_planner.NodePlanner.plan_ahead, 'a standby plans nothing ahead')
def _(_plan_ahead, _self, _nodes, _seen, _contended, _may_go_on):
    """Plan each node in the first cycle."""


@plant(
    node_planner.NodePlanner._read,
    'a standby asks placement for a plan ahead',
)
def _(read, self, seen, needs):
    self._is_ahead = False
    return read(self, seen, needs)


@plant(
    journal.Journal._are_no_news,
    'a standby keeps what it would have to record',
)
def _(_are_no_news, _self, _db, _readings):
    return True


@plant(replica.Replica._put, 'a standby heeds no entry of the history')
def _(put, self, db, changed, _entries):
    put(self, db, changed, ())


# --- what an idle cloud costs -------------------------------------------------


@plant(snapshot.Snapshot.readings, 'every provider is read in every cycle')
def _(_readings, _self, _uuids):
    return {}


@stand_in(client.ReportClient, 'what is shared is read for each node')
class _SharedForEach(client.ReportClient):
    def observe(self, node_uuids):
        found = super().observe(node_uuids[:1])
        for uuid in node_uuids[1:]:
            found.update(super().observe([uuid]))
        return found


@plant(in_use.at_stake, 'allocations are asked for in every cycle')
def _(_at_stake, before, _after):
    return list(before.values())


@stand_in(
    placement.Placement, 'allocations are asked for in case they were needed'
)
class _AsksAlways(placement.Placement):
    """Asks for a tree's allocations whenever it is listed."""

    def read(self, path, *args, **kwargs):
        rows = super().read(path, *args, **kwargs)
        if 'in_tree=' in path:
            for one in rows:
                self.get(f'/resource_providers/{one.uuid}/allocations')
        return rows


@plant(snapshot.Site.known_names, 'known names are forgotten at once')
def _(_known_names, _self):
    return None


@stand_in(
    client.ReportClient,
    'traits are asked for by name, for each node',
)
class _AsksForEveryTrait(client.ReportClient):
    def __init__(self, service, *args, **kwargs):
        super().__init__(service, *args, **kwargs)
        self._service = service

    def apply(self, plan, without=()):
        changes = [c for op in plan.operations for c in op.changes()]
        traits = sorted({c.name for c in changes if c.kind is Kind.TRAIT})
        if traits:
            self._service.get(f'/traits?name=in:{",".join(traits)}')
        return super().apply(plan, without)


_admit = diff.admit


def _admit_all_anew(before, after, known):
    """Create each custom class and trait again, whether known or not."""
    del before
    nothing = type(known)(
        traits=frozenset(t for t in known.traits if 'CUSTOM_' not in t),
        resource_classes=frozenset(
            c for c in known.resource_classes if 'CUSTOM_' not in c
        ),
        read_at=known.read_at,
    )
    return _admit({}, after, nothing)


together(
    'custom names are created for each node anew',
    Plant(diff.admit, _admit_all_anew),
    Plant(ops.is_known, lambda _operation, _known: False),
)


@plant(empty_plans.KeptFacts.__init__, 'facts are compared with themselves')
def _(_init, self, facts):
    self._digest, self._facts = None, facts


@plant(
    empty_plans.EmptyPlan.holds_for,
    'a plan that waits is reused with old generations',
)
def _(_holds_for, self, seen, record, policy):
    return self.basis.equals(seen, record, policy)


# --- a tree of one provider ---------------------------------------------------


@plant(
    lone_roots.LoneRoots.listed, 'a tree of one provider is never listed again'
)
def _(listed, self, uuid, rows):
    listed(self, uuid, rows)
    self._interval = 10**10


@plant(lone_roots._is_allocation, 'any new generation counts as an allocation')
def _(_is_allocation, _reading, _before, _now):
    return True


@plant(
    lone_roots._is_allocation, 'an allocation proves that nothing else changed'
)
def _(_is_allocation, _reading, before, now):
    return any(
        consumers - before.consumers.get(rc, frozenset())
        for rc, consumers in now.consumers.items()
    )


@plant(
    observer.Observer.list_again,
    'a plan that is sent leaves the tree unlisted',
)
def _(_list_again, _self, _node_uuid):
    return None


# --- what is fresh ------------------------------------------------------------


@plant(observation.Observation.tree, 'the driver sees the own tree alone')
def _(_tree, self):
    return provider_tree.ProviderTree.from_providers(
        one for one in self.providers.values() if one.uuid in self.home
    )


class _Remembers(client.ReportClient):
    """Looks at a node once, and trusts its memory until it has to write."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._memory = {}

    def apply(self, given, *args, **kwargs):
        if given.operations:
            self._memory.pop(given.node_uuid, None)
        return super().apply(given, *args, **kwargs)


@stand_in(client.ReportClient, 'what was seen once is not looked at again')
class _LooksOnce(_Remembers):
    def observe(self, node_uuids, *args, **kwargs):
        unknown = [u for u in node_uuids if u not in self._memory]
        if unknown:
            self._memory.update(super().observe(unknown, *args, **kwargs))
        return {u: self._memory[u] for u in node_uuids}


@stand_in(client.ReportClient, 'a remembered generation is written under')
class _Stale(_Remembers):
    _kinds = (ops.SetTraits.kind, ops.SetAggregates.kind)
    _kinds += (ops.SetInventories.kind,)

    def observe(self, node_uuids):
        for uuid, seen in super().observe(node_uuids).items():
            parts = {(u, k) for u in seen.providers for k in self._kinds}
            fresh = dataclasses.replace(seen, fresh=frozenset(parts))
            self._memory.setdefault(uuid, fresh)
        return {u: self._memory[u] for u in node_uuids}


# --- the slow read ------------------------------------------------------------


@stand_in(client.ReportClient, 'all providers are due at the same moment')
class _AllTogether(client.ReportClient):
    def __init__(self, *args, clock, full_read_interval, **kwargs):
        super().__init__(
            *args,
            clock=lambda: clock() // full_read_interval * full_read_interval,
            full_read_interval=full_read_interval,
            **kwargs,
        )


@stand_in(
    client.ReportClient,
    'a clock that is set back stops the slow read',
)
class _NeverGoesBack(client.ReportClient):
    """Waits until a clock that was set back has caught up."""

    def __init__(self, *args, clock, **kwargs):
        latest = [clock()]

        def latest_yet():
            latest[0] = max(latest[0], clock())
            return latest[0]

        super().__init__(*args, clock=latest_yet, **kwargs)


# --- the work of many nodes ---------------------------------------------------


@plant(journal.Journal.writes, 'a node is looked for elsewhere once')
def _(_writes, _self):
    return 1


@plant(
    whole_homes.WholeHomes.only,
    'a node is looked for elsewhere in each cycle',
)
def _(only, self, found):
    self._checked = 0, {}
    return only(self, found)


@plant(
    node_policies.NodePolicies.of,
    'equal policies are shared whatever nodes they name',
)
def _(policy_of, self, node, contended, *more):
    made = policy_of(self, node, contended, *more)
    return next((one for one in self._recent[::-1] if one == made), made)


@plant(
    node_cycle.unchanged, 'the result of an unchanged node keeps its old title'
)
def _(unchanged, context, node, seen, last):
    result = unchanged(context, node, seen, last)
    is_same = result is not None and last is not None
    return last if is_same and result.plan is last.plan else result


@plant(
    node_policies.NodePolicies.current,
    'the authority of drivers is asked for once and for all',
)
def _(current, self, node, contended):
    kept = vars(self).setdefault('kept', {})
    if node.uuid not in kept:
        kept[node.uuid] = current(self, node, contended)
    return kept[node.uuid]


@plant(hierarchy.Hierarchy.__contains__, 'a provider is searched for')
def _(_contains, self, name_or_uuid):
    for member in self._members.values():
        if name_or_uuid in (member.uuid, member.name):
            return True
    return False


@stand_in(node_planner.NodePlanner, "a node's cycle copies all nodes")
class _BuildsAll(node_planner.NodePlanner):
    def observe(self, *args, **kwargs):
        self._all = super().observe(*args, **kwargs)
        return self._all

    def plan(self, *args, **kwargs):
        for seen in self._all.values():
            seen.tree()
        return super().plan(*args, **kwargs)


@stand_in(client.ReportClient, 'one lock is held over all requests')
class _OneAtATime(client.ReportClient):
    """Holds a lock of all nodes while one of them is written."""

    _lock = threading.Lock()

    def apply(self, plan, *args, **kwargs):
        with self._lock:
            return super().apply(plan, *args, **kwargs)
