# SPDX-License-Identifier: Apache-2.0
"""What keeps a cycle from doing too much, or the same thing for ever."""

import dataclasses
import os
import pathlib
import signal

from planted.catalogue import plant

from compute_agent import errors, file_trust
from compute_agent.cycle import judging
from compute_agent.cycle.departures import (
    batches,
    departed_nodes,
    questions,
)
from compute_agent.cycle.node import node_cycle, node_planner, setbacks
from compute_agent.limits import backoff, blast_radius, judgement
from compute_agent.monitoring import server
from compute_agent.ownership import held_back
from compute_agent.plan.diff import diff
from compute_agent.provider_config import files
from compute_agent.state import approvals
from compute_agent.tree import provider, set_aside
from drivers.exec import driver as exec_driver
from drivers.exec import program
from drivers.tree_file import describe, tree_file
from report_client.apply import executor


@plant(
    diff._without,
    'one unknown standard trait stops all other writes',
)
def _(without, one, _traits, classes):
    return without(one, set(), classes)


@plant(
    blast_radius.Limits.is_mass,
    'any number of nodes may lose something at once',
)
def _(_is_mass, _self, _nodes, _of):
    return False


@plant(
    blast_radius.Limits.lost_classes,
    'totals may fall as far as they like',
    in_runs=True,
)
def _(_lost_classes, _self, _changes):
    return {}


@plant(
    node_cycle.NodeCycle.hold_back,
    'a departed node stays on offer until somebody agrees',
    in_runs=True,
)
def _(hold_back, self, verdicts):
    whole = [dataclasses.replace(one, is_whole=True) for one in verdicts]
    hold_back(self, whole)


@plant(
    provider.Provider.fully_reserved,
    'what is held back is not reserved',
)
def _(_fully_reserved, self):
    return self


@plant(
    held_back.out_of_service,
    'maintenance waits for a yes to the first write',
)
def _(_out_of_service, before, _after, _uuids):
    return before


@plant(
    questions.Questions.ask_due,
    'only some of the departed nodes are asked about',
)
def _(ask_due, self, missing):
    return ask_due(self, dict(sorted(missing.items())[:1]))


@plant(batches.newly_left, "another service's list counts as the driver's")
def _(newly_left, *args):
    return {
        uuid: dataclasses.replace(node, left_of=abs(node.left_of))
        for uuid, node in newly_left(*args).items()
    }


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


@plant(judging.Judge._judgement, 'shares are of the chosen nodes only')
def _(_judgement, self, judged, nodes, *more):
    fewer = dataclasses.replace(nodes, listed=len(nodes.cycles))
    return _judgement(self, judged, fewer, *more)


@plant(judgement.Held.without, 'an approval is of a whole set only')
def _(without, self, approved):
    is_whole = all(each <= approved for each in self.subjects.values())
    return without(self, approved) if is_whole else self


@plant(
    held_back._with_held,
    'a class that replaces a held one is offered beside it',
)
def _(with_held, old, wanted, held, classes, *, is_replaced):
    one_at_home = is_replaced and old is not None and bool(old.inventories)
    return with_held(old, wanted, held, classes, is_replaced=one_at_home)


@plant(approvals.Masses.all, 'the rest of a mass goes without a yes')
def _(_all, _self):
    return {}


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
    self.result = dataclasses.replace(
        self.result, applied=tuple(self._applied)
    )


@plant(
    files.ProviderConfigFiles.reload,
    'an invalid provider-config file discards the valid ones in force',
)
def _(reload, self):
    self._entries = None
    reload(self)


@plant(
    server.MonitoringServer.verify_request,
    'the first clients keep later ones out',
)
def _(verify_request, self, request, client_address):
    return len(self._deadlines) < server.MOST and verify_request(
        self, request, client_address
    )


@plant(program._kill, 'a program leaves processes behind')
def _(_kill, pid):
    os.kill(pid, signal.SIGKILL)


@plant(
    program.Program.check,
    'a program in a folder that others may write to is run',
)
def _(_check, self):
    found = pathlib.Path(self.path).stat()
    if problem := file_trust.distrust(found, self.path):
        raise errors.ConfigError(problem)


@plant(
    file_trust.distrust_way,
    'a program in a folder that others may replace is run',
)
def _(_distrust_way, path):
    folder = pathlib.Path(path).parent
    return file_trust.distrust(folder.stat(), folder)


@plant(
    exec_driver.ExecDriver.get_available_nodes,
    'a list that fails is an empty one',
)
def _(get_available_nodes, self):
    try:
        return get_available_nodes(self)
    except errors.DriverError:
        return []


@plant(
    describe._Edit.remove_undescribed,
    'a child that a program leaves out stays',
)
def _(_remove_undescribed, _self, _node):
    return None


def _with_nodes(file, **changes):
    """Return a document whose nodes have other values."""
    nodes = {
        name: dataclasses.replace(node, **changes)
        for name, node in file.nodes.items()
    }
    return dataclasses.replace(file, nodes=nodes)


@plant(
    tree_file.parse,
    'a program removes the children of others',
)
def _(parse, document, **how):
    return _with_nodes(parse(document, **how), leaves_foreign=False)


@plant(
    tree_file.parse,
    'a program that names no children loses them',
)
def _(parse, document, **how):
    return _with_nodes(parse(document, **how), keeps_children=False)


@plant(
    exec_driver.ExecDriver._asked,
    'a program that has a call may lack it later',
)
def _(asked, self, call, read, **parts):
    self._answered.clear()
    return asked(self, call, read, **parts)


@plant(
    set_aside._is_unhealthy,
    'a drain hides that a device does not work',
)
def _(_is_unhealthy, _one):
    return False
