# SPDX-License-Identifier: Apache-2.0
"""The checks of a node beside its plan: if it may be written now.

The root must be the node's own (``identity/identity.py``), and a root that
another writer deleted is not created again at once
(``ownership/taken_away.py``). A reporter also looks for a nova-compute that
reports the node after all. ``node_planner.py`` makes these checks, from several
threads.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping

from ... import errors
from ...fleet.values import mark
from ...identity import identity, nova_compute, nova_root
from ...limits import approval
from ...ownership import policy, taken_away, takeover
from ...ownership.beside_nova import reporter
from ...plan.observation import Observation
from ...state.nodes import AgreedNames
from ...state.snapshot import Snapshot
from ...tree import assertion, provider, provider_tree
from ...tree.node import Node


class RootChecks:
    """Checks the roots of a cycle's nodes.

    :param uuid_files: called in each cycle; returns the host's uuid and the
        file that gives it
    :param names: tells renamed hosts from cloned ones, if it is given
    :param lost: the roots that other writers deleted, if it is given
    :param nova: looks for a nova-compute on this host, if nobody said who
        reports the nodes
    :param mode: the agent's part for its nodes
    """

    def __init__(
        self,
        uuid_files: Callable[[], Mapping[str, str]],
        names: AgreedNames | None,
        lost: Snapshot | None,
        *,
        nova: nova_compute.NovaCompute | None = None,
        mode: policy.Mode = policy.Mode.OWNER,
    ) -> None:
        self._nova = nova
        self._mode = mode
        self._read_uuid_files = uuid_files
        self._found_files: Mapping[str, str] | None = None
        self._names = names
        self._lost = lost
        self._lost_before = self._lost_now = frozenset[str]()

    def begin(self) -> None:
        """Read the lost roots for a cycle; have the uuid files read again."""
        self._found_files = None
        if self._lost is not None:
            self._lost_before = self._lost.lost_roots()

    def observed(self) -> None:
        """Read which roots were lost up to the observation."""
        if self._lost is not None:
            self._lost_now = self._lost.lost_roots()

    def check_identity(self, node: Node, seen: Observation) -> None:
        """Refuse a node that placement knows otherwise.

        :raises errors.Refused: placement has the node's uuid under another
            name, or below another provider
        """
        if self._mode.is_beside_nova:
            nova_root.check(node, seen.providers[node.uuid])
            return
        self.check_own_root(node, seen)
        is_hosts = node.uuid in self._uuid_files()
        if (
            is_hosts
            and self._names is not None
            and node.uuid in seen.providers
        ):
            self._names.agree(node.uuid, node.name)

    def check_own_root(self, node: Node, seen: Observation) -> None:
        """Refuse a root of the agent's own that placement knows otherwise.

        A host that was copied from another has the uuid of the other, and a
        record that says that it created the other's root.

        :raises errors.Refused: as for ``check_identity``
        """
        if self._mode.is_beside_nova:
            return
        file = self._uuid_files().get(node.uuid)
        if file is None or self._names is None:
            identity.check(node, seen.providers)
            return
        agreed = self._names.agreed_name(node.uuid)
        identity.check(node, seen.providers, agreed, file)

    def check_missing_root(
        self, node: Node, seen: Observation, orders: policy.Orders
    ) -> None:
        """Wait before a missing root is created, if it may not be ours.

        nova-compute's roots are never created, and a root that another writer
        deleted not at once. A reporter also waits until nova-compute has ended
        its first pass.

        :raises errors.UnknownState: the root must wait for a later cycle
        """
        root = seen.providers.get(node.uuid)
        if root is not None:
            if self._mode is policy.Mode.REPORTER:
                nova_root.check_marked(root)
            return
        if self._mode.is_beside_nova:
            raise errors.UnknownState(nova_root.missing(node.name))
        why = taken_away.reason_to_wait(
            node.uuid,
            lost=self._lost_now,
            lost_before=self._lost_before,
            recreates=orders.recreates_roots,
        )
        if not why and self._nova is not None and not orders.takes_over:
            why = self._nova.reason_to_wait(node.uuid)
        if why:
            raise errors.UnknownState(why)

    def _uuid_files(self) -> Mapping[str, str]:
        """Return the uuid files, which are read if a cycle needs them."""
        if self._found_files is None:
            self._found_files = self._read_uuid_files()
        return self._found_files

    def note_nova(self, tree: provider_tree.ProviderTree, node: Node) -> None:
        """Note that nova-compute reports this host too."""
        if self._nova is None or node.uuid not in self._uuid_files():
            return
        if line := self._nova.note():
            tree.note(line)


_RIVAL = (
    '{} reports other nodes of this share, so its provider is left to that '
    'one to create; to have this agent report the share, '
    f'{approval.ADVICE}'
)


class Rivals:
    """Finds the other agents that report nodes of this agent's share.

    Their marks are on the roots. While a listed node has one without a yes, this
    agent creates no root: the nodes that are new would be divided by chance. A
    root whose node left the list tells nothing: its agent may be dead, and nobody
    can say yes to a node that is gone.

    :param own: the mark of this agent; None if it ignores other agents' marks
    :param listed: returns the nodes of the driver's list
    :param was_ours: tells if this agent claimed a trait of a root until now, as
        it did with a mark that it had before
    """

    def __init__(
        self,
        own: mark.Mark | None,
        listed: Callable[[], Collection[str]],
        was_ours: Callable[[str, str], bool],
    ) -> None:
        self._own = own
        self._listed = listed
        self._was_ours = was_ours
        self._former = set[mark.Mark]()
        self._seen: dict[str, Observation] = {}
        self._found: str | None = None

    def observed(
        self, found: Mapping[str, Observation | errors.AgentError]
    ) -> None:
        """Note the nodes as they were observed."""
        self._found = None
        self._seen.update(
            (uuid, one)
            for uuid, one in found.items()
            if isinstance(one, Observation)
        )
        if self._own is not None:
            self._note_former(found)

    def _note_former(self, uuids: Collection[str]) -> None:
        """Note marks that this agent had before, while the record shows it."""
        own = self._own.trait if self._own is not None else ''
        for uuid in uuids:
            root = uuid in self._seen and self._seen[uuid].providers.get(uuid)
            if root and own not in root.traits:
                for one in mark.others(root.traits, self._own):
                    if self._was_ours(uuid, one.trait):
                        self._former.add(one)

    def settled(self, uuid: str) -> None:
        """Note that a person gave this node to this agent."""
        self._found = None
        self._seen.pop(uuid, None)

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget all other nodes."""
        for uuid in self._seen.keys() - set(node_uuids):
            del self._seen[uuid]

    def check(self) -> None:
        """Wait before a root is created that another agent may create.

        :raises errors.UnknownState: another agent reports the share
        """
        if self._found is None:
            self._found = takeover.others(self._rivals())
        if self._found:
            raise errors.UnknownState(_RIVAL.format(self._found))

    def _rivals(self) -> set[mark.Mark]:
        if self._own is None:
            return set()
        return {
            one
            for root in self._roots()
            for one in mark.others(root.traits, self._own)
            if one.share == self._own.share and one not in self._former
        }

    def _roots(self) -> list[provider.Provider]:
        """Return the roots of the nodes that the driver lists."""
        listed = self._listed()
        return [
            seen.providers[uuid]
            for uuid, seen in list(self._seen.items())
            if uuid in listed and uuid in seen.providers
        ]


class ReporterChecks:
    """Checks the nodes of a reporter: a nova-compute may report them.

    The sign on this host decides at once (``identity/nova_compute.py``). Where
    there is none, because nova-compute runs elsewhere or in a container,
    placement tells: a nova-compute that reports undoes what the agent reports
    (``ownership/beside_nova/reporter.py``).

    :param marker: tells if the nova-compute of this host reports it
    :param clock: seconds since the epoch
    """

    def __init__(
        self, marker: nova_compute.NovaMarker, clock: Callable[[], float]
    ) -> None:
        self._marker = marker
        self._clock = clock
        self._doubts: dict[str, reporter.Doubt] = {}

    def begin(self) -> None:
        """Look at this host, for a cycle."""
        self._marker.begin()

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget what was found about all nodes but these."""
        for uuid in self._doubts.keys() - set(node_uuids):
            del self._doubts[uuid]

    def reason_to_wait(self, node: Node) -> str:
        """Return why nothing of a node is written now, or ''."""
        why = self._marker.reason_to_wait(node.uuid)
        found = self._doubts.get(node.uuid)
        left = 0.0 if found is None else found.until - self._clock()
        # A longer time is left only if the clock was set back.
        if not why and found is not None and 0 < left <= reporter.REST:
            return reporter.stepped_back(found)
        return why

    def applied(self, node: Node) -> None:
        """Note that all names of a node were restored."""
        found = self._doubts.get(node.uuid)
        if found is not None:
            restored = dataclasses.replace(found, is_restored=True)
            self._doubts[node.uuid] = restored

    def learn(self, node: Node, undone: Collection[assertion.Named]) -> str:
        """Note the names that a plan restores because another writer changed.

        Return why nothing of the node is written now, or ''.
        """
        is_host = self._marker.is_of_host(node.uuid)
        names = reporter.undone(node.uuid, undone, is_host=is_host)
        if names and self._marker.is_silent(node.uuid):
            names = frozenset()  # a person or another service deleted it
        before = self._doubts.get(node.uuid)
        found = reporter.doubt(before, names, self._clock())
        if found is None:
            self._doubts.pop(node.uuid, None)
            return ''
        self._doubts[node.uuid] = found
        return reporter.stepped_back(found) if found.until else ''
