# SPDX-License-Identifier: Apache-2.0
"""The cycles of the nodes that left their driver's list.

It observes the nodes that are gone, passes on those of their providers that
listed nodes use, forgets the nodes that have no provider any more, and begins
the cycles of the others. ``departed_nodes.py`` knows which nodes these are.
The resource tracker calls it after the listed nodes' cycles have begun.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

from ... import errors
from ...limits import blast_radius
from ...ownership import leaving
from ...plan.observation import Observation
from ...tree.node import Node
from ..node import node_result
from ..node.node_cycle import CycleContext, NodeCycle
from ..node.node_planner import NodePlanner
from ..node.node_result import NodeResult, Status
from . import departed_nodes, other_shares


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The nodes that left the driver's list, after the first step.

    :ivar others: the results of the nodes that still exist or may exist
    :ivar cycles: the cycles that were begun, of the nodes that are gone
    :ivar batches: the batch of each of these nodes
    """

    others: Sequence[NodeResult] = ()
    cycles: Sequence[NodeCycle] = ()
    batches: Mapping[str, blast_radius.Batch] = dataclasses.field(
        default_factory=dict
    )


class DepartedCycles:
    """Begins the cycles of departed nodes.

    :param invalidate: makes the next cycle ask placement for sharing providers
    :param others: the other shares in this agent's database, if it has one
    """

    def __init__(
        self,
        departures: departed_nodes.Departures,
        planner: NodePlanner,
        invalidate: Callable[[], None],
        others: other_shares.OtherShares | None = None,
    ) -> None:
        self._others = others
        self._departures = departures
        self._planner = planner
        self._invalidate = invalidate
        self._notes: dict[str, str] = {}  # of nodes that still exist

    def begin(
        self,
        context: CycleContext,
        nodes: Sequence[Node],
        seen: Mapping[str, Observation],
    ) -> Begun:
        """Process the nodes that left the driver's list.

        :param nodes: the nodes of the list
        :param seen: the departed nodes that this cycle observed already, and
            that nothing changed since
        """
        departed = self._departures.since(nodes)
        results = self._of_moved(departed, nodes)
        if context.writing and self._others is not None:
            notes = self._others.give(departed.moved, self._planner.observe)
            results = [
                dataclasses.replace(one, notes=(notes[one.node.uuid],))
                if one.node.uuid in notes
                else one
                for one in results
            ]
        results += [
            node_result.ended(node, Status.LEFT, why)
            for node, why in departed.unknown
        ]
        found = self._observed(
            [node for node in departed.gone if node.uuid not in seen]
        )
        found |= {
            n.uuid: seen[n.uuid] for n in departed.gone if n.uuid in seen
        }
        self._pass_on(found, departed.gone, nodes)
        cycles = [
            NodeCycle(context, node, departed=True)
            for node in departed.gone
            if node.uuid in found
        ]
        for cycle in cycles:
            cycle.begin(found[cycle.node.uuid])
        if context.writing:
            # Nothing of these nodes is ever deleted, so they need no requests.
            self._departures.forget(c.node for c in cycles if c.is_finished())
        return Begun(others=results, cycles=cycles, batches=departed.batches)

    def _of_moved(
        self, departed: departed_nodes.Departed, nodes: Sequence[Node]
    ) -> list[NodeResult]:
        """Return the results of nodes that still exist; forget deleted ones.

        A node whose name is listed with another uuid did not move: its root
        was deleted, and nova-compute, for example, made it anew. Placement is
        asked in the cycles in which the driver is.
        """
        uuids = {node.name: node.uuid for node in nodes}
        asked = [n for n in departed.moved if n.uuid in departed.asked]
        seen = self._observed([node for node in asked if node.name in uuids])
        last, self._notes, results = self._notes, {}, []
        for node in departed.moved:
            note, found = departed_nodes.MOVED, seen.get(node.uuid)
            if node not in asked:
                note = last.get(node.uuid, note)
            if isinstance(found, Observation):
                if node.uuid not in found.providers:
                    self._departures.forget([node])
                    continue
                note = departed_nodes.RENUMBERED.format(
                    name=node.name, new=uuids[node.name], old=node.uuid
                )
            self._notes[node.uuid] = note
            results.append(
                NodeResult(node=node, status=Status.LEFT, notes=(note,))
            )
        return results

    def _pass_on(
        self,
        seen: dict[str, Observation | errors.AgentError],
        gone: Sequence[Node],
        nodes: Sequence[Node],
    ) -> None:
        """Pass on providers that others use; forget nodes without providers.

        :param seen: the observations of the nodes that are gone; nodes that
            are forgotten are dropped from it, and errors are noted in it
        :param nodes: the nodes of the list
        """
        uuids = [node.uuid for node in gone]

        @functools.cache
        def present() -> leaving.Others:
            """Observe the listed nodes again, to find the providers in use."""
            self._invalidate()
            return self._observed(nodes)

        for node in gone:
            found = seen[node.uuid]
            if isinstance(found, errors.AgentError):
                continue
            try:
                stays = self._departures.pass_on(
                    node, found.providers, present, uuids
                )
            except errors.UnknownState as exc:
                seen[node.uuid] = exc
                continue
            if not stays:
                self._departures.forget([node])
                del seen[node.uuid]

    def _observed(
        self, nodes: Sequence[Node]
    ) -> dict[str, Observation | errors.AgentError]:
        """Return the nodes' providers, or why they are unknown.

        A failure here does not fail the nodes that are done already.
        """
        uuids = [node.uuid for node in nodes]
        if not uuids:
            return {}
        try:
            return dict(self._planner.observe(uuids))
        except errors.AgentError as exc:
            return dict.fromkeys(uuids, exc)
