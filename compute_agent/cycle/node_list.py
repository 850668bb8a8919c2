# SPDX-License-Identifier: Apache-2.0
"""The nodes that the drivers have now, with their uuids and titles.

A node that several drivers list is one node: they all add to its tree. If one
of several drivers cannot list its nodes, the nodes that it had stay in the list.
Every exception of a driver becomes a ``DriverError`` that names the driver.
The resource tracker asks for the list at the start of each cycle.
"""

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from .. import errors
from ..state.nodes import KnownNode
from ..tree.node import Node
from ..virt import answers, driver_calls, drivers, failures, long_calls
from ..virt.drivers import NamedDriver

LOG = logging.getLogger(__name__)

# Returns the nodes of these names; the mappings are uuid → name, as far as the
# driver knows, and name → the hypervisor's name, as far as any driver does.
Identify = Callable[
    [Sequence[str], Mapping[str, str], Mapping[str, str]], Sequence[Node]
]
# The names that may have changed, by the source of the driver that tells them.
Changed = Mapping[str, frozenset[str]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DescribedBy:
    """The drivers of one node, in the order of ``compute_driver``.

    :ivar drivers: all drivers of the agent
    :ivar listing: the drivers whose list has the node
    :ivar failed: why drivers that may have the node could not list it, by
        source
    """

    drivers: drivers.Drivers
    listing: tuple[NamedDriver, ...]
    failed: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def spare(self, exc: errors.AgentError) -> str:
        """Return a driver's failure as a text: it spares the other drivers.

        :raises errors.AgentError: the agent has no other driver
        """
        if len(self.drivers) == 1:
            raise exc
        return str(exc)

    def concerned(self) -> Iterator[NamedDriver]:
        """Yield the drivers that have the node, or may have it."""
        for one in self.drivers:
            if one in self.listing or one.source in self.failed:
                yield one


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The answers of one driver about its nodes."""

    names: list[str]
    by_uuid: Mapping[str, str]
    titles: Mapping[str, str]
    by_nova: Mapping[str, str]

    @property
    def tells_uuids(self) -> bool:
        """True if the uuids and names of its nodes depend on nothing else."""
        return len(self.names) > 1 and not self.by_nova


class NodeList:
    """The nodes of all drivers.

    :param identify: returns a driver's nodes with their uuids
    :param known: returns the nodes that drivers had, by uuid
    :ivar listed: the nodes of the last list, and nodes that ``changes`` added
        since
    """

    def __init__(
        self,
        every: drivers.Drivers,
        identify: Identify,
        known: Callable[[], Mapping[str, KnownNode]] = dict,
    ) -> None:
        self._drivers = every
        self._identify = identify
        self._known = known
        self._logged = False
        self._answers: Mapping[str, _Answer] = {}
        self._failed: Mapping[str, errors.AgentError] = {}
        self._named: Mapping[str, Mapping[str, Node]] = {}
        self.listed: Sequence[Node] = ()
        self._described_by: dict[str, DescribedBy] = {}
        self._by_all = DescribedBy(drivers=every, listing=tuple(every))

    def nodes(self) -> Sequence[Node]:
        """Return the nodes that the drivers have now.

        :raises errors.AgentError: no driver can tell
        """
        answers, failed = self._asked()
        if failed or not self._is_same(answers):
            self._found(answers, failed)
        self._log(self.listed)
        return self.listed

    def _is_same(self, answers: Mapping[str, _Answer]) -> bool:
        """Return True if these answers give the last list once more.

        A driver of one node, or one that names a hypervisor, has its node
        identified again: a file of the host or placement may tell another
        uuid or name.
        """
        return (
            not self._failed
            and answers == self._answers
            and all(a.tells_uuids for a in answers.values())
        )

    def changed(self, names: Changed) -> Sequence[Node]:
        """Return the nodes of these names, without a new list of all nodes.

        Names that the last list lacks are added to it.

        :raises errors.AgentError: a name that is not in the last list cannot
            be a node
        """
        answers = dict(self._answers)
        for one in self._drivers:
            last = answers.get(one.source)
            new = names.get(one.source, frozenset()).difference(
                last.names if last is not None else ()
            )
            if last is not None and new:
                with _as_listing(one):
                    names_now = [*last.names, *sorted(new)]
                    answers[one.source] = _described(one, names_now)
        if answers != self._answers:
            self._found(answers, self._failed)
        wanted = {
            node.uuid
            for source, known in self._named.items()
            for name in names.get(source, ())
            if (node := known.get(name)) is not None
        }
        return [node for node in self.listed if node.uuid in wanted]

    def _found(
        self,
        answers: Mapping[str, _Answer],
        failed: Mapping[str, errors.AgentError],
    ) -> Sequence[Node]:
        """Return the nodes of these answers, and remember them as the list.

        :raises errors.AgentError: no driver can tell
        """
        wrong = dict(failed)
        listed = self._listed(answers, wrong)
        if not listed:
            raise next(iter(wrong.values()))
        nodes, holders = _union(self._drivers, listed)
        self.listed = self._with_failed(nodes, holders, wrong)
        self._answers, self._failed = answers, failed
        self._named = {
            source: dict(zip(answers[source].names, several, strict=True))
            for source, several in listed.items()
        }
        return self.listed

    @property
    def uuids(self) -> Collection[str]:
        """The nodes of the last list."""
        return self._described_by.keys()

    def described_by(self, node: Node) -> DescribedBy:
        """Return the drivers of a node; all drivers for one not listed."""
        return self._described_by.get(node.uuid, self._by_all)

    def _with_failed(
        self,
        nodes: dict[str, Node],
        holders: Mapping[str, Sequence[NamedDriver]],
        failed: Mapping[str, errors.AgentError],
    ) -> list[Node]:
        """Add the nodes of the drivers without a list; note who has which."""
        reasons = {source: str(exc) for source, exc in failed.items()}
        had = self._had(reasons)
        for uuid, known in had.items():
            nodes.setdefault(uuid, known.node(uuid))
        alike = dict[tuple[str, ...], DescribedBy]()  # one for many nodes
        self._described_by = {}
        for uuid in nodes:
            listing = tuple(holders.get(uuid, ()))
            key = tuple([one.source for one in listing])
            if reasons or key not in alike:
                alike[key] = DescribedBy(
                    drivers=self._drivers,
                    listing=listing,
                    failed=self._failed_for(uuid, reasons, had),
                )
            self._described_by[uuid] = alike[key]
        return [*nodes.values()]

    # --- the answers of the drivers -------------------------------------------

    def _asked(
        self,
    ) -> tuple[dict[str, _Answer], dict[str, errors.AgentError]]:
        """Return the answers of the drivers, or their errors."""
        answers, failed = {}, dict[str, errors.AgentError]()
        for one in self._drivers:
            try:
                answers[one.source] = _answer(one)
            except errors.AgentError as exc:
                failed[one.source] = exc
        return answers, failed

    def _listed(
        self,
        answers: Mapping[str, _Answer],
        failed: dict[str, errors.AgentError],
    ) -> dict[str, Sequence[Node]]:
        """Return each driver's nodes; add the drivers whose list is wrong.

        :raises errors.AgentError: placement or this host's uuid cannot be read
        """
        by_nova = drivers.merged(a.by_nova for a in answers.values())
        found = dict[str, Sequence[Node]]()
        for source, answer in answers.items():
            try:
                nodes = self._identify(answer.names, answer.by_uuid, by_nova)
            except errors.DriverError as exc:
                failed[source] = exc
                continue
            found[source] = [
                dataclasses.replace(node, title=answer.titles[name])
                if (name := node.name) in answer.titles
                else node
                for node in nodes
            ]
        return found

    def _had(self, failed: Mapping[str, str]) -> dict[str, KnownNode]:
        """Return the nodes that the drivers without a list had, by uuid."""
        if not failed:
            return {}
        references = {
            one.reference for one in self._drivers if one.source in failed
        }
        return {
            uuid: node
            for uuid, node in self._known().items()
            if node.drivers & references
        }

    def _failed_for(
        self,
        uuid: str,
        failed: Mapping[str, str],
        had: Mapping[str, KnownNode],
    ) -> dict[str, str]:
        """Return the drivers without a list that may have the node.

        A driver that never had a node may have any of them.
        """
        known = frozenset[str]().union(*(n.drivers for n in had.values()))
        mine = had[uuid].drivers if uuid in had else frozenset()
        return {
            one.source: failed[one.source]
            for one in self._drivers
            if one.source in failed
            and (one.reference in mine or one.reference not in known)
        }

    def _log(self, nodes: Sequence[Node]) -> None:
        """Log the number of nodes, once: with the first list."""
        if not self._logged:
            self._logged = True
            LOG.info(
                '%s %s %s',
                ' and '.join(one.class_name for one in self._drivers),
                'describe' if self._drivers.are_several else 'describes',
                f'the node {nodes[0]}'
                if len(nodes) == 1
                else f'{len(nodes)} nodes',
            )


def _answer(one: NamedDriver) -> _Answer:
    """Return what a driver tells about its nodes.

    :raises errors.AgentError: the driver cannot tell
    """
    with _as_listing(one), driver_calls.timed(one.called, 'nodes'):
        return _described(one, one.nodes())


def _described(one: NamedDriver, names: list[str]) -> _Answer:
    """Return what a driver tells about the nodes of these names."""
    driver, named = one.driver, one.class_name
    with long_calls.watched(named, 'get_nodenames_by_uuid'):
        by_uuid = driver.get_nodenames_by_uuid()
    with long_calls.watched(named, 'get_titles'):
        titles = driver.get_titles()
    return _Answer(
        names=names,
        by_uuid=answers.names_by_uuid(named, by_uuid),
        titles=answers.texts(named, 'get_titles', titles),
        by_nova=one.hypervisor_hostnames(),
    )


@contextlib.contextmanager
def _as_listing(one: NamedDriver) -> Iterator[None]:
    """Turn an exception of a driver that lists its nodes into a DriverError."""
    try:
        yield
    except errors.AgentError:
        raise
    except failures.caught() as exc:
        raise errors.DriverError(
            f'{one.class_name} cannot list its nodes: {failures.text(exc)}'
        ) from exc


def _union(
    every: drivers.Drivers, listed: Mapping[str, Sequence[Node]]
) -> tuple[dict[str, Node], dict[str, list[NamedDriver]]]:
    """Return the nodes by uuid, and the drivers that list each of them.

    A node has the name, and the title, that the first of its drivers gives.

    :raises errors.DriverError: two drivers give a name to different nodes
    """
    nodes: dict[str, Node] = {}
    holders: dict[str, list[NamedDriver]] = {}
    uuids: dict[str, str] = {}
    for one in every:
        for node in listed.get(one.source, ()):
            known = nodes.setdefault(node.uuid, node)
            if not known.title and node.title:
                nodes[node.uuid] = dataclasses.replace(known, title=node.title)
            holders.setdefault(node.uuid, []).append(one)
    for node in nodes.values():
        other = uuids.setdefault(node.name, node.uuid)
        if other != node.uuid:
            first, second = holders[other][0], holders[node.uuid][0]
            raise errors.DriverError(
                f'{first.title} and {second.title} list the node {node.name} '
                f'with different uuids, {other} and {node.uuid}: give one of '
                'the nodes another name, or remove one of the drivers from '
                '[DEFAULT] compute_driver'
            )
    return nodes, holders
