# SPDX-License-Identifier: Apache-2.0
"""Nodes that left their driver's list: moved, gone, or unknown.

A node that is missing from the list may still exist: another agent may report
it now. So the agent asks the driver about each missing node. Only if the
driver answers *no* is the node *gone*, and its providers may be deleted. A
node that exists is left as it is, and the agent asks about it again after
``interval`` seconds. The resource tracker calls this module.
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
from typing import Protocol

from ... import errors
from ...limits import judgement
from ...ownership import orphans
from ...state.known_node import KnownNode
from ...tree import provider
from ...tree.node import Node
from ...virt import driver as virt
from .. import report_client

ASKED_AT_ONCE = 100  # in one cycle, so that many moves do not delay it
_TICK = 0.001  # seconds between two batches of departed nodes, at least


class Nodes(Protocol):
    """The nodes that each driver reported; see ``state/nodes.py``."""

    def of_driver(self, driver: str) -> Mapping[str, KnownNode]:
        """Return the driver's nodes by uuid."""

    def unrecorded(self) -> Mapping[str, str]:
        """Return nodes with providers but without a record: uuid to name."""

    def drivers(self) -> Collection[str]:
        """Return the drivers that reported a node."""

    def keep(self, driver: str, known: Mapping[str, KnownNode]) -> None:
        """Record these nodes."""

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop these nodes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Departed:
    """The nodes that left the driver's list, sorted by the driver's answer.

    :ivar gone: the nodes that no longer exist
    :ivar moved: the nodes that still exist, by the driver's answer in this
        cycle
    :ivar unknown: the nodes for which the driver cannot tell, and why
    :ivar batches: for each node that is gone, the nodes that left with it
    """

    gone: Sequence[Node] = ()
    moved: Sequence[Node] = ()
    unknown: Sequence[tuple[Node, str]] = ()
    batches: Mapping[str, judgement.Batch] = dataclasses.field(
        default_factory=dict
    )


class Departures:
    """Remembers a driver's nodes, and asks about those that left its list.

    :param interval: seconds after which the driver is asked again about a node
        that exists
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        records: report_client.Records,
        nodes: Nodes,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._driver = driver
        self._records = records
        self._nodes = nodes
        self._clock = clock
        self._interval = interval
        self._source = f'{type(driver).__module__}:{type(driver).__name__}'

    def record(self, nodes: Sequence[Node]) -> None:
        """Record the nodes of a cycle, before it writes for one of them.

        A node that is not recorded would be forgotten, and its providers
        offered for ever, if it left the list after a cycle that was cut short.
        """
        known = self._nodes.of_driver(self._source)
        present = {
            node.uuid: KnownNode(name=node.name, title=node.title)
            for node in nodes
        }
        changed = {u: n for u, n in present.items() if known.get(u) != n}
        self._keep({**changed, **self._unrecorded(present)})

    def since(self, nodes: Sequence[Node]) -> Departed:
        """Return the nodes that left the list, sorted by the driver's answer.

        :param nodes: the nodes of the list, which are recorded
        """
        present = {node.uuid for node in nodes}
        known = self._nodes.of_driver(self._source)
        missing = {u: node for u, node in known.items() if u not in present}
        asked, unknown = self._ask_for(missing)
        missing |= asked
        left = self._newly_left(missing, len(present))
        missing |= left
        self._keep({**asked, **left})
        return Departed(
            gone=[
                _node(uuid, node)
                for uuid, node in missing.items()
                if node.answer is virt.Existence.NO
            ],
            moved=[
                _node(uuid, node)
                for uuid, node in asked.items()
                if node.answer is virt.Existence.YES
            ],
            unknown=unknown,
            batches=_batches(missing),
        )

    def approve(self, node_uuids: Collection[str]) -> None:
        """Record that a person approved these departures."""
        known = self._nodes.of_driver(self._source)
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
        known = self._nodes.of_driver(self._source).get(
            node.uuid, KnownNode(name=node.name, title=node.title)
        )
        answer, why = self._ask(known)
        if answer is not virt.Existence.NO:
            self._keep({node.uuid: self._answered(known, answer)})
            raise errors.UnknownState(
                f'it was gone, and is there again{why}: nothing of it is '
                'removed'
                if answer is virt.Existence.YES
                else CANNOT_TELL.format(why)
            )

    def pass_on(
        self,
        node: Node,
        seen: provider.Snapshot,
        others: Callable[[], orphans.Others],
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
        for uuid in orphans.outside(node.uuid, seen, created):
            claims = self._records.record([uuid], node.uuid).others.values()
            claimants = {claimant for names in claims for _, claimant in names}
            heir = orphans.heir(uuid, claimants, others(), gone)
            if heir is None:
                stays = True
            else:
                self._records.pass_on(uuid, node.uuid, heir)
        return stays

    def forget(self, nodes: Iterable[Node]) -> None:
        """Forget nodes that have no provider in placement any more."""
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
        if not left or set(self._nodes.drivers()) - {self._source}:
            return {}
        return {uuid: KnownNode(name=name) for uuid, name in left.items()}

    def _ask_for(
        self, missing: Mapping[str, KnownNode]
    ) -> tuple[dict[str, KnownNode], list[tuple[Node, str]]]:
        """Ask about the nodes that are due, the least recently asked first.

        If the driver's service is away, the agent asks about no other node,
        because each question would wait as long.
        """
        due = [(u, node) for u, node in missing.items() if self._is_due(node)]
        due.sort(key=lambda pair: pair[1].asked_at)
        asked: dict[str, KnownNode] = {}
        unknown = []
        for uuid, node in due[:ASKED_AT_ONCE]:
            try:
                answer, why = self._ask(node)
            except errors.Unavailable as exc:
                unknown += [
                    (_node(u, n), CANNOT_TELL.format(f' ({exc})'))
                    for u, n in due
                    if u not in asked
                ]
                break
            asked[uuid] = self._answered(node, answer)
            if answer is virt.Existence.UNKNOWN:
                unknown.append((_node(uuid, node), CANNOT_TELL.format(why)))
        return asked, unknown

    def _is_due(self, node: KnownNode) -> bool:
        """Return True if the driver is asked about the node in this cycle.

        The question about a node that is gone comes later, before its
        deletion.
        """
        if node.answer is virt.Existence.NO:
            return False
        if node.answer is not virt.Existence.YES:
            return True
        age = self._clock() - node.asked_at
        return age < 0 or age >= self._interval > 0

    def _ask(self, node: KnownNode) -> tuple[virt.Existence, str]:
        """Return the driver's answer, and the reason if the answer is unknown.

        :raises errors.Unavailable: the driver's service is away
        """
        try:
            return self._driver.node_exists(node.name), ''
        except errors.Unavailable:
            raise
        except errors.AgentError as exc:
            return virt.Existence.UNKNOWN, f' ({exc})'
        except Exception as exc:  # noqa: BLE001 (reported as the reason)
            why = f' ({type(exc).__name__}: {exc})'
            return virt.Existence.UNKNOWN, why

    def _answered(self, node: KnownNode, answer: virt.Existence) -> KnownNode:
        """Return the node with this answer; one that exists did not leave."""
        exists = answer is virt.Existence.YES
        return dataclasses.replace(
            node,
            answer=answer,
            asked_at=self._clock(),
            left_at=None if exists else node.left_at,
            left_of=0 if exists else node.left_of,
        )

    def _newly_left(
        self, missing: Mapping[str, KnownNode], listed: int
    ) -> dict[str, KnownNode]:
        """Return the nodes that left in this cycle, with when and of how many.

        :param missing: all nodes that are not listed, with their last answers
        :param listed: the number of nodes that are listed
        """
        new = {
            uuid: node
            for uuid, node in missing.items()
            if node.left_at is None and node.answer is not virt.Existence.YES
        }
        earlier = (
            n.left_at for n in missing.values() if n.left_at is not None
        )
        # Each batch has a time of its own, and a later one a later time, also
        # if the clock is set back.
        now = max(self._clock(), max(earlier, default=0.0) + _TICK)
        return {
            uuid: dataclasses.replace(
                node, left_at=now, left_of=listed + len(new)
            )
            for uuid, node in new.items()
        }

    def _keep(self, known: Mapping[str, KnownNode]) -> None:
        if known:
            self._nodes.keep(self._source, known)


MOVED = (
    "left this driver's list but exists: another agent reports it now, or the "
    'options that choose nodes changed; nothing of it is removed'
)
CANNOT_TELL = (
    "left this driver's list, and whether it still exists cannot be told{}: "
    'nothing of it is removed'
)


def _batches(missing: Mapping[str, KnownNode]) -> dict[str, judgement.Batch]:
    """Return for each departed node the batch that it left with."""
    together: dict[tuple[float, int], set[str]] = {}
    for uuid, node in missing.items():
        if node.left_at is not None:
            key = node.left_at, node.left_of
            together.setdefault(key, set()).add(uuid)
    return {
        uuid: batch
        for (left_at, of), uuids in together.items()
        for batch in [
            judgement.Batch(
                left_at=left_at,
                nodes=frozenset(uuids),
                unasked=sum(
                    missing[u].answer is not virt.Existence.NO for u in uuids
                ),
                of=of,
            )
        ]
        for uuid in uuids
    }


def _node(uuid: str, known: KnownNode) -> Node:
    return Node(uuid=uuid, name=known.name, title=known.title)
