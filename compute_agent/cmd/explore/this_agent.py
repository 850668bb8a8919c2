# SPDX-License-Identifier: Apache-2.0
"""The knowledge of this machine's agent: its plan, its record, its history.

The pages are of a whole cloud; who gave a trait and what waits for a yes is
known for the nodes of this machine's agent only. On a machine without an agent
each answer says so. Nothing is written: the state is read as a copy. The agent
is opened for one page at a time, because root acts as its user meanwhile.
"""

import dataclasses
import threading
import typing
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from ... import errors
from ...cycle.node.node_result import NodeResult
from ...plan.history_entry import KeptEntry
from ...state.nodes import Nodes
from ...tree.node import Node
from .. import explain
from ..plan import plan, plan_view, waiting
from ..wiring.opening import open_agent, record_place, state_copy
from . import kept

SECONDS = 30.0  # for which a plan is good
_FEW = 20  # nodes that are planned together for the page of one

Data = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The record and the history of this machine's agent.

    :ivar drivers: the drivers of each node, by its uuid
    :ivar problem: why this machine has no record to show; '' if it has one
    """

    nodes: Sequence[Node] = ()
    entries: Sequence[KeptEntry] = ()
    drivers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    place: str = ''
    problem: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The plans of nodes, as ``plan -f json`` has them.

    :ivar nodes: the plan of each node
    :ivar lines: all of them as the command prints them
    :ivar waiting: what waits for a person, as ``waiting.data`` has it
    :ivar traits: for one node: trait → its explanation, as ``explain`` has it
    :ivar problem: why no plan could be made; '' if the plans are there
    """

    nodes: Sequence[Data] = ()
    lines: Sequence[str] = ()
    waiting: Data = dataclasses.field(default_factory=dict)
    traits: Mapping[str, Data] = dataclasses.field(default_factory=dict)
    problem: str = ''


class ThisAgent:
    """The agent that this machine's configuration describes."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._lock = threading.Lock()
        self._records = kept.Kept[Record](5.0)
        self._plans = kept.Kept[Planned](SECONDS, 8)

    def forget(self) -> None:
        """Read everything again when it is asked for."""
        self._records.forget()
        self._plans.forget()

    def record(self) -> Record:
        """Return the nodes and the history of this machine's agent."""
        return self._records.get('', self._read_record)

    def plan(self) -> Planned:
        """Return what the next cycle would write."""
        return self._plans.get('', lambda: self._read_plan(None))

    def plan_of(self, uuid: str) -> Planned | None:
        """Return the plan of one node and why it has its traits.

        :returns: None if it is no node of this machine's agent
        """
        if not any(node.uuid == uuid for node in self.record().nodes):
            return None
        return self._plans.get(uuid, lambda: self._read_plan(uuid))

    def _read_record(self) -> Record:
        try:
            with self._lock, state_copy(self._conf) as opened:
                return Record(
                    nodes=opened.nodes.all(),
                    entries=opened.history.entries(0.0, None),
                    drivers=_drivers(opened.nodes),
                    place=record_place(self._conf),
                )
        except errors.AgentError as exc:
            return Record(problem=str(exc))

    def _read_plan(self, uuid: str | None) -> Planned:
        only: tuple[str, ...] = ()
        if uuid is not None and len(self.record().nodes) > _FEW:
            only = (uuid,)
        try:
            with (
                self._lock,
                open_agent(self._conf, read_only=True) as agent,
            ):
                results = agent.tracker.plan(only=only)
                own = [r for r in results if r.node.uuid == uuid]
                return Planned(
                    nodes=[_node(r) for r in (results if not uuid else own)],
                    lines=_lines(own or results),
                    waiting=waiting.data(waiting.of(own or results)),
                    traits=_traits(explain.facts_of(agent, own[0]))
                    if own
                    else {},
                )
        except errors.AgentError as exc:
            return Planned(problem=str(exc))


def _drivers(nodes: Nodes) -> dict[str, str]:
    """Return the names of the drivers of each node, by its uuid."""
    return {
        uuid: ', '.join(sorted(map(_class_name, known.drivers)))
        for uuid, known in nodes.of_drivers(nodes.drivers()).items()
    }


def _class_name(reference: str) -> str:
    return reference.rpartition(':')[2].rpartition('.')[2]


def _node(result: NodeResult) -> Data:
    return plan.node_data(result)


def _lines(results: Sequence[NodeResult]) -> list[str]:
    """Return the plans as text; those of many nodes are summed up."""
    lines = plan_view.unplanned(results, every=False)
    return [*lines, *(plan_view.text(results, every=False) or '').split('\n')]


def _traits(facts: explain.Facts) -> dict[str, Data]:
    """Return the explanation of each trait of a node's providers."""
    found: set[str] = set()
    for providers in (facts.before or {}, facts.after):
        found = found.union(*(one.traits for one in providers.values()))
    return {
        name: explain.data(name, explain.answer(facts, name))
        for name in sorted(found)
    }
