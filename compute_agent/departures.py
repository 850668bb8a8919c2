# SPDX-License-Identifier: Apache-2.0
"""Nodes that left their driver's list: moved, gone, or nobody can tell.

A node that is missing from the list is no proof that it is gone: another agent
may report it now. The driver is asked for each, and only its plain *no* makes
a node *gone*, whose providers may be deleted. What still exists is left as it
is and asked for again with the slow read. The resource tracker calls this.
"""

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Protocol

from . import describe, errors, provider_tree
from .virt import driver as virt

MAX_DELETIONS = 10
ASKED_AT_ONCE = 100  # in one cycle, so that many moves do not hold it up


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A node that the driver has, or once had.

    :ivar asked_at: when the driver said that it exists although it is not in
        the list, in seconds since the epoch; 0 while it is in it
    """

    name: str
    asked_at: float = 0.0


class Records(Protocol):
    """Where the nodes are remembered; see ``state.py``."""

    def nodes(self, driver: str) -> Mapping[str, Known]:
        """Return the driver's nodes by uuid."""

    def keep_nodes(self, driver: str, known: Mapping[str, Known]) -> None:
        """Record these nodes."""

    def forget_nodes(self, uuids: Iterable[str]) -> None:
        """Drop these nodes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Departed:
    """What became of the nodes that are not in the list.

    :ivar gone: those that no longer exist
    :ivar staying: the others that were asked for now, with a line on each
    """

    gone: Sequence[describe.Node] = ()
    staying: Sequence[tuple[describe.Node, str]] = ()


class Departures:
    """Keeps the list of a driver's nodes and asks for those that left.

    :param interval: seconds between two questions for a node that exists
    :param max_deletions: how many providers of nodes that are gone one cycle
        may delete; None for any number
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        records: Records,
        *,
        clock: Callable[[], float],
        interval: float,
        max_deletions: int | None = MAX_DELETIONS,
    ) -> None:
        self._driver = driver
        self._records = records
        self._clock = clock
        self._interval = interval
        self._max_deletions = max_deletions
        self._source = f'{type(driver).__module__}:{type(driver).__name__}'

    def since(self, nodes: Sequence[describe.Node]) -> Departed:
        """Return what left since the last list; remember this one."""
        known = self._records.nodes(self._source)
        present = {node.uuid: Known(name=node.name) for node in nodes}
        news = {u: k for u, k in present.items() if known.get(u) != k}
        missing = [
            describe.Node(uuid=uuid, name=one.name)
            for uuid, one in known.items()
            if uuid not in present and self._due(one)
        ]
        gone, staying = [], []
        for node in missing[:ASKED_AT_ONCE]:
            existence, why = self._ask(node)
            if existence is virt.Existence.NO:
                gone.append(node)
                continue
            staying.append((node, why))
            if existence is virt.Existence.YES:
                news[node.uuid] = Known(name=node.name, asked_at=self._clock())
        if news:
            self._records.keep_nodes(self._source, news)
        return Departed(gone=gone, staying=staying)

    def refusal(self, count: int) -> str | None:
        """Return why so many providers are not deleted, None if they are."""
        if self._max_deletions is None or count <= self._max_deletions:
            return None
        return (
            f'it is gone, but {count} providers would be deleted in one cycle '
            f'and [compute_agent] max_deletions is {self._max_deletions}: '
            'nothing is deleted; if they are gone indeed, "compute-agent sync '
            '--yes" deletes them'
        )

    def forget(self, nodes: Iterable[describe.Node]) -> None:
        """Forget nodes of which placement holds nothing any more."""
        self._records.forget_nodes([node.uuid for node in nodes])

    def _due(self, one: Known) -> bool:
        age = self._clock() - one.asked_at
        return not one.asked_at or age < 0 or age >= self._interval > 0

    def _ask(self, node: describe.Node) -> tuple[virt.Existence, str]:
        try:
            existence = self._driver.node_exists(node.name)
        except errors.AgentError as exc:
            existence, why = virt.Existence.UNKNOWN, f' ({exc})'
        except Exception as exc:  # noqa: BLE001 (a driver's, and said)
            existence = virt.Existence.UNKNOWN
            why = f' ({type(exc).__name__}: {exc})'
        else:
            why = ''
        return existence, _LINES[existence].format(why)


_LINES = {
    virt.Existence.YES: (
        "left this driver's list but exists: another agent reports it now, or "
        'the options that choose nodes changed; nothing of it is removed{}'
    ),
    virt.Existence.UNKNOWN: (
        "left this driver's list, and whether it still exists cannot be told; "
        'nothing of it is removed{}'
    ),
    virt.Existence.NO: 'is gone{}',
}


def describe_gone(
    tree: provider_tree.ProviderTree,
    node: describe.Node,
    created: Container[str],
) -> None:
    """Edit the tree until nothing of a node is offered that is gone.

    What this agent created goes; where others' providers are in the tree it
    stays, reserved, for them to see to it.

    :param created: the providers that this agent created
    """
    uuids = tree.get_provider_uuids(node.uuid)
    others = [u for u in uuids if u not in created]
    if not others:
        tree.remove(node.uuid)
        return
    for uuid in uuids:
        if uuid in created or uuid == node.uuid:
            records = tree.data(uuid).inventory
            tree.update_inventory(
                uuid,
                {
                    rc: {**r, 'reserved': r['total']}
                    for rc, r in records.items()
                },
            )
    tree.fault(
        'it is gone, but this agent did not create '
        f'{", ".join(tree.data(u).name for u in others)}: reserved, so that '
        'nothing is scheduled there; delete it in placement'
    )
