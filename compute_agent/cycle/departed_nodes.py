# SPDX-License-Identifier: Apache-2.0
"""Nodes that left their driver's list: moved, gone, or nobody can tell.

A node that is missing from the list is no proof that it is gone: another agent
may report it now. The driver is asked for each, and only its plain *no* makes
a node *gone*, whose providers may be deleted. What still exists is left as it
is and asked for again with the slow read. The resource tracker calls this.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from .. import errors
from ..ownership import orphans
from ..state.known_node import KnownNode
from ..tree import provider
from ..tree.node import Node
from ..virt import driver as virt
from . import report_client

ASKED_AT_ONCE = 100  # in one cycle, so that many moves do not hold it up


class Nodes(Protocol):
    """The nodes that each driver reported; see ``state/nodes.py``."""

    def of_driver(self, driver: str) -> Mapping[str, KnownNode]:
        """Return the driver's nodes by uuid."""

    def keep(self, driver: str, known: Mapping[str, KnownNode]) -> None:
        """Record these nodes."""

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop these nodes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Departed:
    """What became of the nodes that are not in the list.

    :ivar gone: those that no longer exist
    :ivar moved: those that were found to exist just now
    :ivar unknown: those of which that cannot be told, and why
    :ivar whole: nothing is left of the list
    """

    gone: Sequence[Node] = ()
    moved: Sequence[Node] = ()
    unknown: Sequence[tuple[Node, str]] = ()
    whole: bool = False

    def refusal(self) -> str | None:
        """Return why only a person may say that they go, None if they may."""
        if self.whole and len(self.gone) > 1:
            return (
                "it is gone, and so is every node of this driver's list: is "
                'that the right service? Nothing of them is touched; '
                '"compute-agent sync --yes" deletes them'
            )
        return None


class Departures:
    """Keeps the list of a driver's nodes and asks for those that left.

    :param interval: seconds between two questions for a node that exists
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

    def since(self, nodes: Sequence[Node]) -> Departed:
        """Return what left since the last list; remember this one."""
        known = self._nodes.of_driver(self._source)
        present = {
            node.uuid: KnownNode(name=node.name, title=node.title)
            for node in nodes
        }
        missing = {u: one for u, one in known.items() if u not in present}
        asked, unknown = self._ask_for(missing)
        news = {u: k for u, k in present.items() if known.get(u) != k}
        self._keep({**news, **asked})
        return Departed(
            gone=[
                _node(uuid, one)
                for uuid, one in {**missing, **asked}.items()
                if one.answer is virt.Existence.NO
            ],
            moved=[
                _node(uuid, one)
                for uuid, one in asked.items()
                if one.answer is virt.Existence.YES
            ],
            unknown=unknown,
            whole=not present,
        )

    def confirm(self, node: Node) -> None:
        """Make sure, just before something of it goes, that it is gone.

        :raises errors.UnknownState: it is not, or cannot be told
        """
        one = KnownNode(name=node.name, title=node.title)
        answer, why = self._ask(one)
        if answer is not virt.Existence.NO:
            self._keep({node.uuid: self._answered(one, answer)})
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
        """Let other nodes have what they use of one that is gone.

        Return whether placement still has anything of the node.

        :param others: returns the nodes of the list, and what is seen of each
            now; asked only where something could pass
        :param gone: the uuids of all that are gone
        :raises errors.UnknownState: whether one uses it cannot be told
        """
        created = self._records.created_for([node.uuid]).get(node.uuid, ())
        left = orphans.outside(node.uuid, seen, created)
        stays = node.uuid in seen
        for uuid in left:
            found = self._records.record([uuid], node.uuid).others.values()
            holders = {holder for some in found for _, holder in some}
            heir = orphans.heir(uuid, holders, others(), gone)
            if heir is None:
                stays = True
            else:
                self._records.pass_on(uuid, node.uuid, heir)
        return stays

    def forget(self, nodes: Iterable[Node]) -> None:
        """Forget nodes of which placement holds nothing any more."""
        gone = [node.uuid for node in nodes]
        if gone:
            self._nodes.forget(gone)

    def _ask_for(
        self, missing: Mapping[str, KnownNode]
    ) -> tuple[dict[str, KnownNode], list[tuple[Node, str]]]:
        """Ask for those that are due, the longest not asked for first.

        It ends with the first question that nobody answers: the service is
        away, and the others would wait as long.
        """
        due = [(u, one) for u, one in missing.items() if self._due(one)]
        due.sort(key=lambda pair: pair[1].asked_at)
        asked: dict[str, KnownNode] = {}
        unknown = []
        for uuid, one in due[:ASKED_AT_ONCE]:
            try:
                answer, why = self._ask(one)
            except errors.Unavailable as exc:
                unknown += [
                    (_node(u, k), CANNOT_TELL.format(f' ({exc})'))
                    for u, k in due
                    if u not in asked
                ]
                break
            asked[uuid] = self._answered(one, answer)
            if answer is virt.Existence.UNKNOWN:
                unknown.append((_node(uuid, one), CANNOT_TELL.format(why)))
        return asked, unknown

    def _due(self, one: KnownNode) -> bool:
        """Whether to ask; who is gone is asked for before anything goes."""
        if one.answer is virt.Existence.NO:
            return False
        if one.answer is not virt.Existence.YES:
            return True
        age = self._clock() - one.asked_at
        return age < 0 or age >= self._interval > 0

    def _ask(self, one: KnownNode) -> tuple[virt.Existence, str]:
        """Return the driver's answer, and why it is none.

        :raises errors.Unavailable: the service that knows is away
        """
        try:
            return self._driver.node_exists(one.name), ''
        except errors.Unavailable:
            raise
        except errors.AgentError as exc:
            return virt.Existence.UNKNOWN, f' ({exc})'
        except Exception as exc:  # noqa: BLE001 (a driver's, and said)
            why = f' ({type(exc).__name__}: {exc})'
            return virt.Existence.UNKNOWN, why

    def _answered(self, one: KnownNode, answer: virt.Existence) -> KnownNode:
        return dataclasses.replace(one, answer=answer, asked_at=self._clock())

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


def _node(uuid: str, one: KnownNode) -> Node:
    return Node(uuid=uuid, name=one.name, title=one.title)
