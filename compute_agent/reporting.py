# SPDX-License-Identifier: Apache-2.0
"""What the resource tracker needs of the report client, as Protocols.

``report_client/client.py`` is what keeps them; the tracker never imports it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from . import errors, ownership, provider, provider_tree


class Observation(Protocol):
    """What placement holds of a node; see ``report_client/observation.py``."""

    @property
    def providers(self) -> provider.Snapshot:
        """The providers, parents first."""

    def tree(self) -> provider_tree.ProviderTree:
        """Return a tree to edit."""


class Plan(Protocol):
    """What is to be done for a node; see ``report_client/plan.py``."""

    @property
    def operations(self) -> Sequence[Any]:
        """The operations, in order."""

    @property
    def notes(self) -> Sequence[str]:
        """Lines for the operator."""

    @property
    def faults(self) -> Sequence[str]:
        """Lines that say why the node is not done even so."""


class Outcome(Protocol):
    """What became of a plan; see ``report_client/apply.py``."""

    @property
    def applied(self) -> Sequence[Any]:
        """The operations carried out."""

    @property
    def refused(self) -> Sequence[str]:
        """A line for each operation that was refused."""


class ReportClient(Protocol):
    """What the tracker needs of ``report_client/client.py``."""

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Any | errors.AgentError]:
        """Return what placement holds of each node, or why it is unknown."""

    def plan(
        self,
        tree: provider_tree.ProviderTree,
        seen: Any,
        policy: ownership.Policy,
    ) -> Plan:
        """Return what would be sent."""

    def apply(self, plan: Any) -> Outcome:
        """Send it."""


class Records(Protocol):
    """What the tracker needs of ``state.py``."""

    def record(self, uuids: Iterable[str]) -> ownership.Record:
        """Return what earlier cycles left of these providers."""
