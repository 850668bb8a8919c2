# SPDX-License-Identifier: Apache-2.0
"""The report client as a cycle needs it; ``report_client/client.py`` is one.

Pure: no I/O, configuration, logging or clock. Only the command line imports the
report client. The two exchange values of ``tree/`` and ``plan/``.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Protocol

from ... import errors
from ...plan.allocations import Allocations
from ...plan.needs import Known, Needs
from ...plan.observation import Observation
from ...plan.plan import Outcome, Plan


class ReportClient(Protocol):
    """The calls to placement that a cycle needs."""

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Observation | errors.AgentError]:
        """Return each node's providers, or why they are unknown.

        :raises errors.AgentError: not even the list could be read
        """

    def invalidate(self) -> None:
        """List sharing providers and all trees at the next ``observe``."""

    def list_again(self, node_uuid: str) -> None:
        """List a node's tree at the next ``observe``."""

    def watch_sharing(self, uuids: Iterable[str]) -> None:
        """Ask for these sharing providers at every ``observe`` from now on."""

    def forget_except(self, node_uuids: Collection[str]) -> None:
        """Drop everything kept in memory about other nodes.

        Nothing is observed or applied meanwhile. The state database keeps its
        records.
        """

    def allocations(self, seen: Observation) -> Allocations:
        """Return all allocations of a node's own tree, for a driver to edit.

        :raises errors.Replan: placement changed since it was observed
        """

    def read(self, needs: Needs) -> Known:
        """Return the facts that a decision about a node lacks.

        :raises errors.Replan: placement changed since it was observed
        :raises errors.Refused: a new root's name belongs to another provider
        """

    def verify(self, plan: Plan) -> None:
        """Read again all that a plan would write, without writing it.

        :raises errors.Replan: placement changed since it was observed
        """

    def apply(self, plan: Plan, without: Collection[Hashable] = ()) -> Outcome:
        """Send a plan's operations; return the outcome, errors included.

        :param without: operations that were refused before; they are not
            sent, and neither is an operation that depends on one of them
        """
