# SPDX-License-Identifier: Apache-2.0
"""The checks of a reporter: a nova-compute may report the node after all.

The sign on this host decides at once (``identity/nova_compute.py``). Where there
is none, because nova-compute runs elsewhere or in a container, placement tells:
a nova-compute that reports undoes what the agent reports
(``ownership/beside_nova/reporter.py``). ``node_planner.py`` makes these checks,
from several threads.
"""

import dataclasses
from collections.abc import Callable, Collection

from ...ownership.beside_nova import reporter
from ...ownership.explanations import notes
from ...tree import assertion, provider
from ...tree.node import Node
from .. import report_client


class ReporterChecks:
    """Checks the nodes of a reporter.

    :param marker: tells if the nova-compute of this host reports it
    :param clock: seconds since the epoch
    :param author: says who changed a name that is restored
    """

    def __init__(
        self,
        marker: report_client.NovaMarker,
        clock: Callable[[], float],
        author: notes.Author,
    ) -> None:
        self._marker = marker
        self._clock = clock
        self._author = author
        self._doubts: dict[str, reporter.Doubt] = {}

    def begin(self) -> None:
        """Look at this host, for a cycle."""
        self._marker.begin()

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget what was found about other nodes."""
        for uuid in self._doubts.keys() - set(node_uuids):
            del self._doubts[uuid]

    def reason_to_wait(self, node: Node) -> str:
        """Return why nothing of a node is written now, or ''."""
        why = self._marker.reason_to_wait(node.uuid)
        found = self._doubts.get(node.uuid)
        left = 0.0 if found is None else found.until - self._clock()
        # More is left only if the clock was set back.
        if not why and found is not None and 0 < left <= reporter.REST:
            return reporter.stepped_back(found)
        return why

    def applied(self, node: Node) -> None:
        """Note that all names of a node were restored."""
        found = self._doubts.get(node.uuid)
        if found is not None:
            restored = dataclasses.replace(found, is_restored=True)
            self._doubts[node.uuid] = restored

    def learn(
        self,
        node: Node,
        providers: provider.Snapshot,
        restored: Collection[assertion.Named],
    ) -> str:
        """Note which names of a node a plan restores.

        Return why nothing of the node is written now, or ''.
        """
        # Not those that a command of this agent changed.
        others = [
            (uuid, kind, name)
            for uuid, kind, name in restored
            if not self._author(providers[uuid], kind, name)
        ]
        is_host = self._marker.is_of_host(node.uuid)
        names = reporter.undone(node.uuid, others, is_host=is_host)
        if names and self._marker.is_silent(node.uuid):
            names = frozenset()  # it was a person, or another service
        before = self._doubts.get(node.uuid)
        found = reporter.doubt(before, names, self._clock())
        if found is None:
            self._doubts.pop(node.uuid, None)
            return ''
        self._doubts[node.uuid] = found
        return reporter.stepped_back(found) if found.until else ''
