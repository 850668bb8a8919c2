# SPDX-License-Identifier: Apache-2.0
"""Protocols for the collaborators of a cycle: report client, files, records.

Pure: no I/O, configuration, logging or clock. ``report_client/client.py``,
``provider_config/files.py`` and ``state/records.py`` implement them.
The agent and the report client exchange values of ``tree/`` and ``plan/``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from .. import errors
from ..limits.item_history import ItemHistory, ItemKey
from ..ownership.record import Record
from ..plan.allocations import Allocations
from ..plan.needs import Known, Needs
from ..plan.observation import Observation
from ..plan.plan import Outcome, Plan
from ..tree import provider_tree
from ..tree.node import CreatedProviders


class ReportClient(Protocol):
    """The calls to placement that a cycle needs."""

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Observation | errors.AgentError]:
        """Return each node's providers, or why they are unknown.

        :raises errors.AgentError: not even the list could be read
        """

    def invalidate(self) -> None:
        """Ask placement for sharing providers again at the next ``observe``."""

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

    def apply(self, plan: Plan, without: Collection[object] = ()) -> Outcome:
        """Send a plan's operations; return the outcome, errors included.

        :param without: operations that were refused before; they are not
            sent, and neither is an operation that depends on one of them
        """


class LostRoots(Protocol):
    """The roots that other writers deleted, over restarts."""

    def lost_roots(self) -> frozenset[str]:
        """Return those that are not there again."""


class NovaCompute(Protocol):
    """The signs of a nova-compute that reports this host."""

    def reason_to_wait(self, uuid: str) -> str:
        """Return why the root with this uuid is not created now, or ''."""

    def note(self, uuid: str) -> str:
        """Return a line about a nova-compute that runs beside, or ''."""


class NovaMarker(Protocol):
    """The sign that the nova-compute of this host reports no resources."""

    def begin(self) -> None:
        """Look at the host, for a cycle."""

    def is_of_host(self, uuid: str) -> bool:
        """Return True for the root of this host."""

    def is_silent(self, uuid: str) -> bool:
        """Return True if no nova-compute reports the root, for certain."""

    def reason_to_wait(self, uuid: str) -> str:
        """Return why nothing of the root with this uuid is written, or ''."""


class Undos(Protocol):
    """The changes that other writers undid, over restarts."""

    def load(self) -> Mapping[ItemKey, ItemHistory]:
        """Return the histories of all names that were undone."""

    def save(self, changed: Mapping[ItemKey, ItemHistory | None]) -> None:
        """Keep these histories; drop those that are None."""


class Files(Protocol):
    """The operators' provider-config files."""

    @property
    def edition(self) -> int:
        """The number of the set of files in force, counted up at each reload."""

    def begin(self) -> None:
        """Have the files read, at the start of a cycle."""

    def merge(
        self,
        tree: provider_tree.ProviderTree,
        node_uuid: str,
        record: Record,
    ) -> None:
        """Assert the files' additions to a tree that the driver described."""

    def log_unmatched(self, node_uuids: Sequence[str]) -> None:
        """Log entries that match no provider of any of these nodes."""


class AgreedNames(Protocol):
    """The names under which the agent and placement last agreed on nodes."""

    def agreed_name(self, uuid: str) -> str | None:
        """Return the agreed name of a node, None if there never was one."""

    def agree(self, uuid: str, name: str) -> None:
        """Record that placement and this agent call a node by this name."""


class Records(CreatedProviders, Protocol):
    """The record of earlier cycles."""

    def preload(self, wanted: Mapping[str, frozenset[str]]) -> None:
        """Read the records of many nodes at once, for ``record`` to return.

        :param wanted: for each node, the providers that its record is about
        """

    def record(self, uuids: Iterable[str], node_uuid: str) -> Record:
        """Return what earlier cycles recorded of these providers.

        The same object is returned until one of these records is written.
        """

    def take_over(self, uuids: Iterable[str]) -> None:
        """Record that a person allowed this agent to write these providers."""

    def give_up(self, node_uuid: str, given: Record) -> None:
        """Drop a part of a node's record; placement keeps all of it."""

    def pass_on(self, uuid: str, node_uuid: str, heir_uuid: str) -> None:
        """Record that a provider now counts as created for another node."""
