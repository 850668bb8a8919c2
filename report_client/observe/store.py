# SPDX-License-Identifier: Apache-2.0
"""The state that this client keeps between cycles, as Protocols.

``compute_agent/state/`` implements them: its ``State`` has these parts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from compute_agent.plan.history_entry import Entry
from compute_agent.plan.intents import Intent
from compute_agent.tree import names, provider
from compute_agent.tree.assertion import Claims, Key


class Journal(Protocol):
    """Intents, outcomes of writes, and readings; each method is atomic."""

    def begin(
        self,
        node_uuid: str,
        intents: Sequence[Intent],
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record durably the writes that will be sent."""

    def amend(
        self, node_uuid: str, uuids: Collection[str], intents: Sequence[Intent]
    ) -> None:
        """Replace the node's open intents on these providers."""

    def record_outcome(
        self,
        done: Iterable[Intent],
        dropped: Iterable[Intent] = ...,
        *,
        readings: Iterable[provider.Reading] = ...,
        gone: Iterable[str] = ...,
        entries: Sequence[Entry] = ...,
        may_be_lost: bool = ...,
    ) -> None:
        """Record the writes that were carried out, and their results."""

    def intents(
        self, node_uuids: Iterable[str]
    ) -> dict[str, dict[str, Sequence[Intent]]]:
        """Return these nodes' open intents, by provider."""

    def intents_on(self, uuids: Iterable[str]) -> dict[str, list[Intent]]:
        """Return the open intents on these providers, of any node."""

    def inherited(self) -> frozenset[str]:
        """Return the providers on which a predecessor's writes may be open."""

    def prove(self) -> object:
        """Return if this agent may write.

        :raises errors.Deposed: another agent holds its share
        """

    def settled(self, uuid: str) -> None:
        """Note that no earlier write to a provider can be carried out."""

    def moment(self) -> int:
        """Return the moment at which an observation begins."""

    def writes(self) -> int:
        """Return a number that each write to the state raises."""

    def newer(self, uuids: Iterable[str], since: int) -> set[str]:
        """Return the providers, among these, that were updated since then."""

    def save(
        self,
        readings: Iterable[provider.Reading],
        *,
        since: int,
        may_be_lost: bool = ...,
    ) -> None:
        """Keep these readings, except those older than the stored ones."""

    def save_ahead(self, readings: Sequence[provider.Reading]) -> bool:
        """Keep these readings, if no change must be recorded for any of them.

        :return: False if no reading was kept
        """

    def forget(
        self, uuids: Iterable[str], lost_roots: Iterable[str] = ...
    ) -> None:
        """Drop everything about providers that no longer exist.

        :param lost_roots: the nodes' roots among them, to be remembered
        """

    def disown(self, uuids: Iterable[str]) -> None:
        """Drop everything about uuids that are another writer's providers now.

        Their earlier contents are dropped, too.
        """

    def lost_providers(self, uuids: Iterable[str]) -> dict[str, int]:
        """Return the providers that this agent created and that were gone.

        Each has the first generation at which it was gone.
        """

    def forget_earlier_contents(self, uuids: Iterable[str]) -> None:
        """Drop earlier contents: other providers have these uuids now."""

    def earlier_states(
        self, seen: Iterable[provider.Provider]
    ) -> tuple[set[str], set[str]]:
        """Return the providers that may be in an earlier state, and the proofs."""

    def restore(self, readings: Iterable[provider.Reading]) -> None:
        """Keep readings of providers that have an earlier state again."""


class CreatedProviders(Protocol):
    """The record of the providers that were created for each node."""

    def created_for(
        self, node_uuids: Iterable[str]
    ) -> Mapping[str, Sequence[str]]:
        """Return the providers created while each of these was described."""


class Snapshot(Protocol):
    """The last readings of placement."""

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return the last readings of these providers, if there are any.

        The same objects are returned until the providers are written to.
        """

    def members(self, root_uuids: Iterable[str]) -> dict[str, set[str]]:
        """Return the providers last seen in the trees of these roots."""


class Site(Protocol):
    """The placement service: its names and its size."""

    def known_names(self) -> names.KnownNames | None:
        """Return the names that placement knew when it was last asked."""

    def save_known_names(self, known: names.KnownNames | None) -> None:
        """Keep the names that placement knows; forget them if None."""

    def size(self) -> provider.Size | None:
        """Return how many providers placement had; None if that is unknown."""

    def save_size(self, size: provider.Size) -> None:
        """Keep how many providers placement has."""


class State(Protocol):
    """All parts of the state."""

    @property
    def journal(self) -> Journal:
        """Intents, outcomes of writes, and readings."""

    @property
    def snapshot(self) -> Snapshot:
        """The last readings of placement."""

    @property
    def site(self) -> Site:
        """The placement service: its names and its size."""

    @property
    def records(self) -> CreatedProviders:
        """The record of earlier cycles."""

    def forget_except(self, node_uuids: Collection[str]) -> None:
        """Drop what is kept in memory about other nodes."""
