# SPDX-License-Identifier: Apache-2.0
"""What the resource tracker needs of the report client, as Protocols.

Pure: no I/O, configuration, logging or clock, and nothing but Protocols.
``report_client/client.py`` is what keeps them; the tracker never imports it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from .. import errors
from ..limits import blast_radius, contention
from ..ownership.policy import Policy
from ..ownership.record import Record
from ..tree import provider, provider_tree


class Observation(Protocol):
    """What placement holds of a node; see ``report_client/observe/observation.py``."""

    @property
    def providers(self) -> provider.Snapshot:
        """The providers, parents first."""

    def tree(self) -> provider_tree.ProviderTree:
        """Return a tree to edit."""


class Allocations(Protocol):
    """What is allocated of a tree; see ``report_client/operations/allocations.py``."""

    @property
    def described(self) -> dict[str, Any]:
        """It in nova's form, for a driver to edit in place."""


class Plan(Protocol):
    """What is to be done for a node; see ``report_client/plan/diff.py``."""

    @property
    def operations(self) -> Sequence[Any]:
        """The operations, in order."""

    @property
    def before(self) -> provider.Snapshot:
        """The providers it was made upon."""

    @property
    def notes(self) -> Sequence[str]:
        """Lines for the operator."""

    @property
    def contended(self) -> Sequence[contention.Item]:
        """What would be changed too, if another writer did not undo it."""

    @property
    def faults(self) -> Sequence[str]:
        """Lines that say why the node is not done even so."""

    def is_quiet(self) -> bool:
        """Whether there is nothing to do, to record or to wait for."""


class Outcome(Protocol):
    """What became of a plan; see ``report_client/apply/executor.py``."""

    @property
    def applied(self) -> Sequence[Any]:
        """The operations carried out."""

    @property
    def refused(self) -> Sequence[str]:
        """A line for each operation that was refused."""

    @property
    def left(self) -> Sequence[Any]:
        """Those operations, and what is left because of them."""


class ReportClient(Protocol):
    """What the tracker needs of ``report_client/client.py``."""

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Any | errors.AgentError]:
        """Return what placement holds of each node, or why it is unknown."""

    def invalidate(self) -> None:
        """Look anew at what would else be taken to be as it was lately."""

    def allocations(self, seen: Any) -> Allocations:
        """Return what is allocated of a node's tree, complete."""

    def plan(
        self,
        tree: provider_tree.ProviderTree,
        seen: Any,
        policy: Policy,
        allocations: Any | None = None,
    ) -> Plan:
        """Return what would be sent.

        :param allocations: those that the driver edited with the tree
        """

    def unchanged(self, seen: Any, policy: Policy) -> Plan | None:
        """Return the last plan, if it was of nothing and all it rested on is.

        For a node that would be described as it was: that is not looked at.
        """

    def apply(self, plan: Any, without: Sequence[Any] = ()) -> Outcome:
        """Send it, less what was refused already."""

    def removals(self, plan: Any) -> blast_radius.Removals:
        """Return what a plan removes."""

    def changes(self, operations: Sequence[Any]) -> frozenset[contention.Item]:
        """Return what operations make of which item."""


class Files(Protocol):
    """What the tracker needs of ``provider_config/files.py``."""

    @property
    def edition(self) -> int:
        """Which set of files is in force, counted."""

    def begin(self) -> None:
        """Have the operator's files read."""

    def merge(
        self,
        tree: provider_tree.ProviderTree,
        node_uuid: str,
        record: Record,
    ) -> None:
        """Assert what they say of a tree that the driver described."""

    def log_unmatched(self, node_uuids: Sequence[str]) -> None:
        """Log entries that match no provider of any of these nodes."""


class Records(Protocol):
    """What the tracker needs of ``state/state.py``."""

    def record(self, uuids: Iterable[str], node_uuid: str) -> Record:
        """Return what earlier cycles left of these providers."""

    def created_for(
        self, node_uuids: Iterable[str]
    ) -> Mapping[str, Collection[str]]:
        """Return the providers created while each node was described."""
