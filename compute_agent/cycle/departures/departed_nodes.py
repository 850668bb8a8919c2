# SPDX-License-Identifier: Apache-2.0
"""Nodes that left their driver's list: moved, gone, or unknown.

A node that is missing from the list may still exist: another agent may report
it now. Only if the driver denies that it exists is the node *gone*, and its
providers may be deleted. ``questions.py`` asks the driver, ``batches.py`` tells
which nodes left together. The resource tracker calls this module.
"""

import dataclasses
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Mapping,
    Sequence,
)

from ... import errors
from ...limits import blast_radius
from ...ownership import leaving
from ...state.nodes import KnownNode, Nodes
from ...state.records import Records
from ...tree import provider
from ...tree.node import Node
from ...virt import driver as virt
from ...virt import drivers
from .. import node_list
from . import batches, questions

MOVED = (
    "left this driver's list but exists: another agent reports it now, or the "
    'options that choose nodes changed; nothing of it is removed'
)
RENUMBERED = (
    'its driver lists {name} with the uuid {new} now; the provider {old} stays '
    'as it is: delete it if nothing else reports it'
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Departed:
    """The nodes that left the driver's list, sorted by the driver's answer.

    :ivar gone: the nodes that no longer exist
    :ivar moved: the nodes that still exist, by the driver's last answer
    :ivar unknown: the nodes for which the driver cannot tell, and why
    :ivar asked: the uuids of the nodes about which the driver was asked
    :ivar batches: for each node that is gone, the nodes that left with it
    """

    gone: Sequence[Node] = ()
    moved: Sequence[Node] = ()
    unknown: Sequence[tuple[Node, str]] = ()
    asked: Collection[str] = ()
    batches: Mapping[str, blast_radius.Batch] = dataclasses.field(
        default_factory=dict
    )


class Departures:
    """Remembers the drivers' nodes, and asks about those that left the lists.

    :param listed: tells which drivers have a node
    :param interval: seconds after which the drivers are asked again about a
        node that exists
    """

    def __init__(
        self,
        every: drivers.Drivers,
        listed: node_list.NodeList,
        records: Records,
        nodes: Nodes,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._questions = questions.Questions(every, clock, interval)
        self._listed = listed
        self._records = records
        self._nodes = nodes
        self._clock = clock
        self._drivers = every.references
        # The list and the record of the last call that recorded nothing.
        self._settled: tuple[object, object] = (None, None)

    def record(self, nodes: Sequence[Node]) -> None:
        """Record the nodes of a cycle, before it writes for one of them.

        A node that is not recorded would be forgotten, and its providers
        offered for ever, if it left the list after a cycle that was cut short.
        """
        known = self._known()
        if self._is_recorded(nodes, known):
            return
        present = {
            node.uuid: KnownNode(
                name=node.name,
                title=node.title,
                drivers=self._drivers_of(node, known.get(node.uuid)),
            )
            for node in nodes
        }
        changed = {u: n for u, n in present.items() if known.get(u) != n}
        new = {
            **changed,
            **batches.newly_left(known, present, self._clock()),
            **batches.partly_back(known, present),
            **self._unrecorded(present),
        }
        self._keep(new)
        self._settled = (None, None) if new else (nodes, known)

    def _is_recorded(
        self, nodes: Sequence[Node], known: Mapping[str, KnownNode]
    ) -> bool:
        """Return True if the last call recorded nothing, and would again.

        Nothing changed if both are the same objects as then.
        """
        last_nodes, last_known = self._settled
        return (
            nodes is last_nodes
            and known is last_known
            and not self._nodes.unrecorded()
        )

    def gone(self, nodes: Sequence[Node]) -> list[str]:
        """Return the nodes that were gone in an earlier cycle already.

        :param nodes: the nodes of the list
        """
        present = {node.uuid for node in nodes}
        return [
            uuid
            for uuid, node in self._known().items()
            if uuid not in present and node.answer is virt.Existence.NO
        ]

    def since(self, nodes: Sequence[Node]) -> Departed:
        """Return the nodes that left the list, sorted by the driver's answer.

        :param nodes: the nodes of the list, which are recorded
        """
        present = {node.uuid for node in nodes}
        known = self._known()
        missing = {u: node for u, node in known.items() if u not in present}
        asked, unknown = self._questions.ask_due(missing)
        missing |= asked
        # The nodes that existed outside this list until now, and are gone.
        left = batches.newly_left({**known, **asked}, present, self._clock())
        missing |= left
        self._keep({**asked, **left})
        told = {node.uuid for node, _ in unknown}
        return Departed(
            gone=[
                node.node(uuid)
                for uuid, node in missing.items()
                if node.answer is virt.Existence.NO
            ],
            moved=[
                node.node(uuid)
                for uuid, node in missing.items()
                if node.answer is virt.Existence.YES and uuid not in told
            ],
            unknown=[
                *unknown,
                *(
                    (node.node(uuid), questions.CANNOT_TELL.format(''))
                    for uuid, node in missing.items()
                    if node.answer is virt.Existence.UNKNOWN
                    and uuid not in told
                ),
            ],
            asked=asked.keys(),
            batches=batches.batches(missing),
        )

    def approve(self, node_uuids: Collection[str]) -> None:
        """Record that a person approved these departures."""
        known = self._known()
        self._keep(
            {
                uuid: dataclasses.replace(known[uuid], left_of=0)
                for uuid in node_uuids
                if uuid in known and known[uuid].left_of
            }
        )

    def confirm(self, node: Node) -> None:
        """Ask the driver again if a node is gone, just before its deletion.

        :raises errors.UnknownState: the node exists, or the driver cannot tell
        """
        known = self._known().get(
            node.uuid,
            KnownNode(name=node.name, title=node.title, drivers=self._drivers),
        )
        answer, why = self._questions.ask(known)
        if answer is not virt.Existence.NO:
            answered = self._questions.answered(known, answer)
            self._keep({node.uuid: answered})
            raise errors.UnknownState(
                f'it was gone, and is there again{why}: nothing of it is '
                'removed'
                if answer is virt.Existence.YES
                else questions.CANNOT_TELL.format(why)
            )

    def pass_on(
        self,
        node: Node,
        seen: provider.Snapshot,
        others: Callable[[], leaving.Others],
        gone: Collection[str],
    ) -> bool:
        """Let the nodes that use a departed node's providers inherit them.

        Return True if placement still has a provider of the node.

        :param node: a node that is gone
        :param others: returns the listed nodes' observations; called only if
            a provider could be passed on
        :param gone: the uuids of all nodes that are gone
        :raises errors.UnknownState: a node could not be observed, so it may
            use one of the providers
        """
        created = self._records.created_for([node.uuid]).get(node.uuid, ())
        stays = node.uuid in seen
        for uuid in leaving.outside(node.uuid, seen, created):
            claims = self._records.record([uuid], node.uuid).others.values()
            claimants = {claimant for names in claims for _, claimant in names}
            heir = leaving.heir(uuid, claimants, others(), gone)
            if heir is None:
                stays = True
            else:
                self._records.pass_on(uuid, node.uuid, heir)
        return stays

    def forget(self, nodes: Iterable[Node]) -> None:
        """Forget nodes without a provider in placement."""
        gone = [node.uuid for node in nodes]
        if gone:
            self._nodes.forget(gone)

    def _unrecorded(self, present: Container[str]) -> dict[str, KnownNode]:
        """Return nodes that were never recorded, to be handled as departed.

        If another driver reported nodes to this state database, the nodes may
        be that driver's, so this driver is not asked about them.
        """
        found = self._nodes.unrecorded()
        left = {
            uuid: name for uuid, name in found.items() if uuid not in present
        }
        if not left or set(self._nodes.drivers()) - self._drivers:
            return {}
        return {
            uuid: KnownNode(name=name, drivers=self._drivers)
            for uuid, name in left.items()
        }

    def _known(self) -> Mapping[str, KnownNode]:
        return self._nodes.of_drivers(self._drivers)

    def _drivers_of(
        self, node: Node, known: KnownNode | None
    ) -> frozenset[str]:
        """Return the drivers that have a node, or had it."""
        if len(self._drivers) == 1:
            return self._drivers
        had = self._drivers & known.drivers if known else frozenset[str]()
        listing = self._listed.described_by(node).listing
        return had.union(one.reference for one in listing)

    def _keep(self, known: Mapping[str, KnownNode]) -> None:
        if known:
            self._nodes.keep(known)
