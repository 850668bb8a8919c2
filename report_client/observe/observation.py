# SPDX-License-Identifier: Apache-2.0
"""The observation of one node while ``observer.py`` makes it.

Pure: no I/O, configuration, logging or clock. The finished value is the
agent's ``plan/observation.py``.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from compute_agent import errors
from compute_agent.plan.intents import Intent
from compute_agent.plan.observation import Observation, Part
from compute_agent.tree import provider

from ..http import codec

# Errors that fail one node; all others mean that placement is unavailable.
ONE_NODE = (errors.UnknownState, errors.Replan)


@dataclasses.dataclass(slots=True, kw_only=True)
class ObservationBuilder:
    """One node's observation while it is being made.

    :ivar since: the journal's moment at which the observation began
    :ivar rows: the providers that the list showed
    :ivar home: the providers of the node's own tree
    :ivar fresh: the parts that were read in this cycle
    :ivar notes: lines for the operator, by provider
    :ivar error: the reason why the node cannot be observed
    :ivar failed: the errors of sharing providers, by provider
    """

    node_uuid: str
    since: int
    rows: Sequence[codec.ListedProvider]
    home: set[str] = dataclasses.field(default_factory=set)
    readings: dict[str, provider.Reading] = dataclasses.field(
        default_factory=dict
    )
    fresh: set[Part] = dataclasses.field(default_factory=set)
    intents: dict[str, Sequence[Intent]] = dataclasses.field(
        default_factory=dict
    )
    notes: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    error: errors.AgentError | None = None
    failed: dict[str, errors.AgentError] = dataclasses.field(
        default_factory=dict
    )

    def aggregates(self) -> frozenset[str]:
        """Return the aggregates of the node's own tree."""
        return frozenset[str]().union(
            *(self.readings[u].provider.aggregates for u in self.home)
        )

    def members(self) -> dict[str, list[str]]:
        """Return the providers in each aggregate."""
        found: dict[str, list[str]] = {}
        for uuid, reading in self.readings.items():
            for aggregate in reading.provider.aggregates:
                found.setdefault(aggregate, []).append(uuid)
        return found

    def add_sharing(
        self, shared: 'ObservationBuilder', uuids: Iterable[str]
    ) -> None:
        """Add these sharing providers.

        :param shared: the observation of all sharing providers
        """
        for uuid in uuids:
            if uuid not in self.home:
                self.readings[uuid] = shared.readings[uuid]
                self.notes[uuid] = shared.notes.get(uuid, ())
                self.fresh |= {p for p in shared.fresh if p[0] == uuid}

    def build(self) -> Observation:
        """Return the finished observation.

        :raises errors.UnknownState: placement's parents form a cycle
        """
        try:
            providers = provider.snapshot(
                r.provider for r in self.readings.values()
            )
        except errors.TreeError as exc:
            raise errors.UnknownState(f'placement says that {exc}') from exc
        return Observation(
            node_uuid=self.node_uuid,
            providers=providers,
            home=frozenset(self.home),
            fresh=frozenset(self.fresh),
            notes=tuple(
                note for notes in self.notes.values() for note in notes
            ),
        )
