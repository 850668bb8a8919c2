# SPDX-License-Identifier: Apache-2.0
"""What this agent once did, and the random runs must notice again.

The other modules have the defects of a single part that are of this kind, too:
all of them have ``in_runs=True``.
"""

import variants
from planted.catalogue import plant, together

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.departures import departed_cycles, departed_nodes
from compute_agent.cycle.node import node_cycle, node_planner
from compute_agent.limits import contention, item_history
from compute_agent.ownership import claims
from compute_agent.plan import intents
from compute_agent.state import earlier_contents
from compute_agent.tree import provider_tree
from report_client.apply import executor
from report_client.observe import fallen
from report_client.plan import progress

TEN_CYCLES = 600.0  # seconds, at a cycle a minute


# --- the tree's verbs ---------------------------------------------------------


@plant(
    claims._claims_of,
    'removing a name ends the claims on all others',
    in_runs=True,
)
def _(claims_of, source, inputs):
    said = inputs.assertions.get(source)
    if said is None or not said.removed or said.ends_claims or said.keep:
        return claims_of(source, inputs)
    return said.names


@plant(
    provider_tree.ProviderTree.discard_edits,
    'edits stay although the driver then lacks the method',
    in_runs=True,
)
def _(_discard_edits, _self):
    return None


# --- what waits ---------------------------------------------------------------


together(
    'contention counts undos within ten cycles',
    variants.Constant(item_history, WITHIN=TEN_CYCLES),
    variants.Constant(contention, WITHIN=TEN_CYCLES),
    in_runs=True,
)


@plant(
    resource_tracker.ResourceTracker.leave,
    'a leave remembers what others undid of what it deletes',
    in_runs=True,
)
def _(leave, self, nodes, *, writing):
    self._learn = lambda _results, *, full: None
    try:
        return leave(self, nodes, writing=writing)
    finally:
        del self._learn


@plant(
    fallen.Fallen.is_recent,
    'a lower generation is believed when it is seen again',
    in_runs=True,
)
def _(_is_recent, _self, reading):
    return not reading.suspect


@plant(
    earlier_contents.is_lone_root,
    'a pool that another agent made again counts as restored',
)
def _(_is_lone_root, _db, _seen):
    return False


# --- outages ------------------------------------------------------------------

_begin = node_planner.NodePlanner.begin
_end = node_cycle.NodeCycle._end
_depart = departed_cycles.DepartedCycles.begin
_record = departed_nodes.Departures.record


def _begin_without_outage(self):
    self.met_outage = False
    _begin(self)


def _note_outage(self, status, reason, *, outage=None):
    self._context.planner.met_outage |= outage is not None
    _end(self, status, reason, outage=outage)


def _depart_after_no_outage(self, *args):
    if self._planner.met_outage:
        return departed_cycles.Begun()
    return _depart(self, *args)


def _record_after_no_outage(self, context, nodes, seen):
    if not self._planner.met_outage:
        _record(self._departures, nodes)
    return _depart(self, context, nodes, seen)


_NOTES_OUTAGES = (
    variants.Plant(node_planner.NodePlanner.begin, _begin_without_outage),
    variants.Plant(node_cycle.NodeCycle._end, _note_outage),
)
together(
    "an outage of one node's writes postpones all departures",
    *_NOTES_OUTAGES,
    variants.Plant(
        departed_cycles.DepartedCycles.begin, _depart_after_no_outage
    ),
    in_runs=True,
)
together(
    'nodes are recorded at the end of a cycle without an outage',
    *_NOTES_OUTAGES,
    variants.Plant(
        departed_nodes.Departures.record, lambda _self, _nodes: None
    ),
    variants.Plant(
        departed_nodes.Departures._unrecorded, lambda _self, _present: {}
    ),
    variants.Plant(
        departed_cycles.DepartedCycles.begin, _record_after_no_outage
    ),
    in_runs=True,
)

# --- conflicts ----------------------------------------------------------------

_create_names = executor.Executor._create_names
_stop = progress.Progress.stop


def _verify_all_first(self, made):
    for step in made.provider_steps():
        for expected, kind in made.unverified(step):
            self._verifier.verify(expected, kind)
            made.fresh.add((expected.uuid, kind))
    _create_names(self, made)


def _stop_all(self, step, exc):
    _stop(self, step, exc)
    raise exc


together(
    'all parts are read before the first write, and a conflict drops the plan',
    variants.Plant(executor.Executor._create_names, _verify_all_first),
    variants.Plant(progress.Progress.stop, _stop_all),
    in_runs=True,
)

# --- crashes ------------------------------------------------------------------


def _at_its_generation(given, seen):
    """Return the outcome of a chain that others' writes make unclear."""
    sent = [i for i in given if i.generation <= (seen.generation or 0)]
    sent = intents._without_failed(seen, sent)
    if not intents._explains(sent, seen):
        return intents.Outcome(dropped=tuple(given))
    later = tuple(i for i in given if i not in sent)
    return intents.Outcome(done=tuple(sent), dropped=later)


@plant(
    intents._reconcile_chain,
    'an interrupted write counts at its exact generation only',
    in_runs=True,
)
def _(reconcile_chain, given, seen, *, in_own_tree):
    if seen is None or any(i.kind is None for i in given):
        return reconcile_chain(given, seen, in_own_tree=in_own_tree)
    return _at_its_generation(given, seen)


@plant(
    intents._reconcile_chain,
    "an interrupted creation counts as another's once somebody allocated",
    in_runs=True,
)
def _(reconcile_chain, given, seen, *, in_own_tree):
    is_creation = any(i.kind is None for i in given)
    if seen is None or not (is_creation and in_own_tree):
        return reconcile_chain(given, seen, in_own_tree=in_own_tree)
    return _at_its_generation(given, seen)
