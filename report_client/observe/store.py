# SPDX-License-Identifier: Apache-2.0
"""What this client wants remembered between cycles, as Protocols.

``compute_agent/state/state.py`` is what remembers it; nothing here does.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from compute_agent.ownership.record import Record
from compute_agent.tree import names, provider
from compute_agent.tree.assertion import Claims, Key
from compute_agent.tree.intents import Intent


class Settling(Protocol):
    """Where the fate of intents is recorded."""

    def settle(
        self,
        done: Iterable[Intent],
        dropped: Iterable[Intent] = ...,
        *,
        readings: Iterable[provider.Reading] = ...,
        gone: Iterable[str] = ...,
    ) -> None:
        """Record what was done, what was not, and what is there now."""


class Journal(Settling, Protocol):
    """Where intents are written down."""

    def begin(
        self,
        node_uuid: str,
        intents: Sequence[Intent],
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record what is about to be sent, durably."""


class Store(Settling, Protocol):
    """What is remembered between cycles; see ``compute_agent/state/state.py``."""

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return what was last read of these providers.

        The same objects as long as they are not written to.
        """

    def members(self, root_uuids: Iterable[str]) -> dict[str, set[str]]:
        """Return the providers last seen in the trees of these roots."""

    def created_for(self, node_uuids: Iterable[str]) -> dict[str, list[str]]:
        """Return the providers created while each of these was described."""

    def intents(
        self, node_uuids: Iterable[str]
    ) -> dict[str, dict[str, Sequence[Intent]]]:
        """Return these nodes' unconfirmed intents, by provider."""

    def moment(self) -> int:
        """Return the moment at which a look begins."""

    def newer(self, uuids: Iterable[str], since: int) -> set[str]:
        """Return the providers of which something was learnt since then."""

    def save(
        self, readings: Iterable[provider.Reading], *, since: int
    ) -> None:
        """Keep these readings, but for what is older than what is known."""

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop all that is recorded of providers that are no more."""

    def known_names(self) -> names.KnownNames | None:
        """Return the names this placement knew when it was last asked."""

    def save_known_names(self, known: names.KnownNames | None) -> None:
        """Keep the names this placement knows."""

    def size(self) -> provider.Size | None:
        """Return how many providers this placement had, and when that was."""

    def save_size(self, size: provider.Size) -> None:
        """Keep how many providers this placement has."""


class State(Store, Journal, Protocol):
    """All that is remembered."""

    def remember_records(self, wanted: Mapping[str, frozenset[str]]) -> None:
        """Remember nodes' records, read at once, for ``record`` to return.

        :param wanted: node uuid → the providers that its record is about
        """

    def record(self, uuids: Iterable[str], node_uuid: str) -> Record:
        """Return what earlier cycles left of these providers.

        The same object as long as nothing of it was written.
        """
