# SPDX-License-Identifier: Apache-2.0
"""A node's own rights: what may be written, and what may go."""

import dataclasses

from planted.catalogue import plant

from compute_agent import scheduler_report_client
from compute_agent.cycle.node import node_checks, node_planner, node_result
from compute_agent.cycle.planning import decide, node_plan
from compute_agent.fleet.values import mark
from compute_agent.identity import identity
from compute_agent.ownership import (
    claims,
    policy,
    pools,
    several_drivers,
    taken_away,
    takeover,
    undeletable,
)
from compute_agent.plan import intents
from compute_agent.state import nodes, records
from compute_agent.state.values import node_record
from compute_agent.tree import assertion, inventory, names
from report_client.plan import progress


@plant(claims.decide, "the driver's traits replace other writers' traits")
def _(decide, inputs, rules):
    found = decide(inputs, rules)
    asserted = claims.union(a.names for a in inputs.assertions.values())
    return dataclasses.replace(found, names=asserted - found.masked)


@plant(claims.are_as_recorded, 'names that were claimed are taken to be there')
def _(_are_as_recorded, _kind, _before, assertions, recorded, _rules):
    return {s: one.names for s, one in assertions.items()} == recorded


@plant(undeletable.not_ours, 'providers that others created are deleted')
def _(not_ours, before, removed, _created, shared=()):
    return not_ours(before, removed, removed, shared)


@plant(
    pools.Pools._is_free,
    'a pool is taken away although others may use it',
)
def _(_is_free, _self, _uuid):
    return True


@plant(pools.Pools.ours, 'names that another agent added stay on a pool')
def _(_ours, self, key):
    return self._record.ours.get(key, frozenset())


@plant(
    pools.Pools.taken,
    'a claimed name whose removal fails stays on its pool for good',
)
def _(_taken, _self):
    return {}


@plant(
    node_plan.NodePlan.taken_now,
    'a first write to a pool that waits is allowed one cycle later',
)
def _(_taken_now, self):
    return self.taken


@plant(
    pools.Pools._is_ours,
    'a pool of which one trait is claimed is deleted whole',
)
def _(_is_ours, self, uuid):
    return self._is_claimed(uuid) or _is_ours(self, uuid)


@plant(nodes.Nodes.elsewhere, 'a node that moved counts as the own one')
def _(_elsewhere, _self, _listed):
    return set()


@plant(
    takeover._is_described,
    'a pool that the agent found as described waits for a yes',
)
def _(_is_described, _record, _uuid):
    return False


@plant(
    policy.is_protected,
    'an exclusive list removes COMPUTE_STATUS_DISABLED',
)
def _(is_protected, name):
    return name != names.COMPUTE_STATUS_DISABLED and is_protected(name)


@plant(
    claims._causes,
    'a name that one source drops is removed although others claim it',
)
def _(causes, inputs, rules, _claimed, masked):
    return causes(inputs, rules, frozenset(), masked)


@plant(
    claims._claims_of,
    'adding a name ends the claims on all others',
    in_runs=True,
)
def _(claims_of, source, inputs):
    said = inputs.assertions.get(source)
    adjusts = said is not None and not said.declared and not said.exclusive
    if adjusts and not said.keep:
        return said.names
    return claims_of(source, inputs)


@plant(claims._claims_of, 'a claim on a name that is gone never ends')
def _(claims_of, source, inputs):
    said = inputs.assertions.get(source, assertion.NOTHING)
    kept = frozenset() if said.ends_claims else inputs.claims.get(source)
    return claims_of(source, inputs) | ((kept or frozenset()) - said.removed)


@plant(
    intents._reconcile_chain,
    "names left by an interrupted write count as the agent's",
)
def _(reconcile_chain, given, seen, *, in_own_tree):
    generation = -1 if seen is None else seen.generation or 0
    sent = tuple(i for i in given if i.generation <= generation)
    if not sent:
        return reconcile_chain(given, seen, in_own_tree=in_own_tree)
    later = tuple(i for i in given if i not in sent)
    return intents.Outcome(done=sent, dropped=later)


@plant(
    intents._reconcile_chain,
    'a shared root is claimed after a crash, whoever created it',
    in_runs=True,
)
def _(reconcile_chain, given, seen, *, in_own_tree):
    del in_own_tree
    return reconcile_chain(given, seen, in_own_tree=True)


@plant(intents._is_marked, 'the mark of an agent proves no creation')
def _(_is_marked, _seen, _intents):
    return False


@plant(intents._is_marked, 'any mark proves a creation')
def _(_is_marked, seen, _intents):
    return bool(mark.marks(seen.traits))


@plant(
    progress.Progress.unproved,
    'a creation that nothing shows is recorded at the end',
)
def _(_unproved, _self, before=None):
    del before
    return []


@plant(
    progress.Progress._marks_first,
    'a creation whose mark was refused may be lost',
)
def _(_marks_first, _self, _uuid, _step):
    return True


@plant(inventory.Ratios.complete, 'an omitted allocation ratio means 1.0')
def _(complete, self, rc, record, _current):
    return complete(self, rc, record, None)


@plant(
    undeletable.stranded,
    'a provider that cannot be deleted is still offered',
    in_runs=True,
)
def _(_stranded, _before, _staying, _created):
    return {}, []


@plant(
    node_plan.NodePlan.waiting,
    "a first write to another's root asks nobody",
    in_runs=True,
)
def _(_waiting, _self):
    return ()


@plant(
    node_result._first_writes, 'the yes to a first write leaves out its losses'
)
def _(first_writes, result):
    for change in first_writes(result):
        yield dataclasses.replace(change, includes=frozenset())


@plant(node_planner.NodePlanner.adopt, 'a reinstalled host asks twice')
def _(_adopt, self, adopted):
    self._settings.host.take(adopted)


@plant(
    takeover._creator, 'OWNER_NOVA alone tells that nova-compute created it'
)
def _(creator, before, one, lost):
    found, sign = creator(before, one, lost)
    is_either = found is takeover.Creator.EITHER
    return takeover.Creator.NOVA if is_either else found, sign


@plant(
    identity._maybe_cloned, 'a cloned host is advised to rename the provider'
)
def _(_maybe_cloned, node, root, _agreed, _file):
    return identity._renamed(node, root)


@plant(
    taken_away.reason_to_wait,
    'a root that another deleted is created again at once',
    in_runs=True,
)
def _(_reason_to_wait, _uuid, **_what):
    return ''


@plant(several_drivers.keep, "a failing driver's names are removed")
def _(_keep, tree, record, sources):
    for (uuid, kind), by_source in record.claims.items():
        for source in by_source.keys() & sources:
            if tree.exists(uuid):
                with tree.asserting(source):
                    tree.release(uuid, kind)


@plant(
    policy.Policy.decides,
    'the authority of one driver applies where another speaks',
)
def _(decides, self, _source, trait):
    return any(decides(self, source, trait) for source in self.authority)


@plant(
    several_drivers.release,
    'the claims of a driver that was removed stay for ever',
)
def _(_release, tree, record, _node_uuid, sources, _only=None):
    several_drivers.keep(tree, record, sources)


@plant(records.Records.record, 'nobody remembers who added a trait')
def _(record, self, *which):
    return dataclasses.replace(record(self, *which), ours={})


@plant(
    inventory.Ratios.complete,
    'a field that is left out stays what it was',
)
def _(_complete, _self, _rc, record, held):
    known = held.to_record() if held is not None else {}
    return inventory.Inventory.from_record({**known, **record})


@plant(
    scheduler_report_client.EditedTree._check_seen,
    'a whole set removes what its editor has not seen',
)
def _(_check_seen, _self, _tree, _done):
    return None


@plant(
    node_record.within,
    'an import claims the root of another host',
)
def _(_within, handed, _tree):
    return handed


@plant(
    node_checks.Rivals._rivals,
    'two agents of one share divide its new nodes by chance',
)
def _(_rivals, _self):
    return set()


@plant(
    node_checks.Rivals._roots,
    'a root whose node left the list keeps others from coming',
)
def _(_roots, self):
    seen = self._seen.items()
    return [s.providers[u] for u, s in seen if u in s.providers]


@plant(
    mark.others,
    'an agent writes to the nodes that another one has marked',
)
def _(_others, _traits, _own):
    return []


@plant(
    node_plan.NodePlan._begins,
    'the option for first writes takes nodes from another agent',
)
def _(_begins, self, one):
    return one.is_agreed or self.takes_over


@plant(
    takeover._marked,
    'what was taken over from another agent stays when its node goes',
)
def _(_marked, root, marks, own, before, record):
    made = _marked(root, marks, own, before, record)
    return dataclasses.replace(made, adopted=frozenset())


@plant(
    node_planner.NodePlanner.plan_leaving,
    'a leave deletes a root that has another name',
)
def _(_plan_leaving, self, node, seen, contended, held=frozenset()):
    return self._plan_leaving(node, seen, contended, held)


@plant(decide._marks, 'a departed root loses the mark of another agent')
def _(marks, inputs):
    return marks(dataclasses.replace(inputs, asks=True))


@plant(
    decide._reserving,
    'an agent reserves nodes that another one reports',
)
def _(_reserving, inputs, described, takeovers, known):
    plain = [dataclasses.replace(one, marks=()) for one in takeovers]
    return _reserving(inputs, described, tuple(plain), known)


@plant(
    node_planner.NodePlanner._others,
    'an agent deletes, or leaves, nodes that another one took over',
)
def _(_others, _self, _node, _seen, _record):
    return ''
