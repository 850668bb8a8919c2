# SPDX-License-Identifier: Apache-2.0
"""The checks of a reporter: a nova-compute may report the node after all.

The sign on this host decides at once (``identity/nova_marker.py``). Where there
is none, because nova-compute runs elsewhere or in a container, placement tells:
a nova-compute that reports undoes what the agent reports
(``ownership/beside_nova/reporter.py``). ``node_planner.py`` makes these checks,
from several threads.
"""

from collections.abc import Callable, Collection

from ...ownership.beside_nova import reporter
from ...tree import assertion
from ...tree.node import Node
from .. import report_client

_REST = 3600.0  # seconds; a contended item rests as long


class ReporterChecks:
    """Checks the nodes of a reporter.

    :param marker: tells if the nova-compute of this host reports it
    :param refresh: seconds after which nova-compute reads its providers anew
    :param clock: seconds since the epoch
    """

    def __init__(
        self,
        marker: report_client.NovaMarker,
        refresh: float,
        clock: Callable[[], float],
    ) -> None:
        self._marker = marker
        self._refresh = refresh
        self._clock = clock
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
        if not why and found is not None and self._clock() < found.until:
            return reporter.stepped_back(found)
        return why

    def learn(self, node: Node, restored: Collection[assertion.Named]) -> str:
        """Note which names of a node a plan restores.

        Return why nothing of the node is written now, or ''.
        """
        names = reporter.undone(node.uuid, restored)
        if names and self._marker.is_silent(node.uuid):
            names = frozenset()  # it was a person, or another service
        found = reporter.doubt(
            self._doubts.get(node.uuid),
            names,
            self._clock(),
            refresh=self._refresh,
            rest=_REST,
        )
        if found is None:
            self._doubts.pop(node.uuid, None)
            return ''
        self._doubts[node.uuid] = found
        return reporter.stepped_back(found) if found.until else ''
