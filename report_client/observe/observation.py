# SPDX-License-Identifier: Apache-2.0
"""A node's observation while ``observer.py`` makes it, and the last one.

Pure: no I/O, configuration, logging or clock. The finished value is the
agent's ``plan/observation.py``. If nothing changed, ``LastObservations``
returns the last one again: a caller that compares two observations then finds
the same object, and need not compare their contents.
"""

import dataclasses
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence

from compute_agent import errors
from compute_agent.plan.intents import Intent
from compute_agent.plan.observation import Observation, Part
from compute_agent.tree import provider

from ..http.messages import codec

# Errors that fail one node; all others mean that placement is unavailable.
ONE_NODE = (errors.UnknownState, errors.Replan)

_NOTHING = frozenset[Part]()  # one for all nodes: an empty set takes 216 bytes


def is_stale(row: codec.ListedProvider, reading: provider.Reading) -> bool:
    """Return True if a stored reading may differ from what a list shows."""
    if reading.suspect or row.fault:
        return True
    stored = reading.provider
    return (row.generation, row.name, row.parent_uuid, row.root_uuid) != (
        stored.generation,
        stored.name,
        stored.parent_uuid,
        reading.root_uuid,
    )


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
            fresh=frozenset(self.fresh) or _NOTHING,
            notes=tuple(
                note for notes in self.notes.values() for note in notes
            ),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Finished:
    """An observation, and the readings in it.

    :ivar aggregates: True if its own tree is in an aggregate
    :ivar sharing: the list of sharing providers that it was made with
    """

    result: Observation
    readings: tuple[provider.Reading, ...]
    aggregates: bool
    sharing: object

    def is_same(self, builder: ObservationBuilder) -> bool:
        """Return True if a builder has these readings, all from the store."""
        readings = builder.readings
        return (
            not builder.fresh
            and builder.home == self.result.home
            and len(readings) == len(self.readings)
            and all(map(operator.is_, readings.values(), self.readings))
        )


class LastObservations:
    """The last observation of each node, and the readings behind it."""

    def __init__(self) -> None:
        self._last: dict[str, _Finished] = {}

    def __contains__(self, node_uuid: str) -> bool:
        return node_uuid in self._last

    def unchanged(
        self,
        node_uuid: str,
        rows: Sequence[codec.ListedProvider],
        stored: Mapping[str, provider.Reading],
        sharing: object,
    ) -> Observation | None:
        """Return a node's last observation if the lists show the same.

        Of a node that has providers in other trees, and reaches these through no
        aggregate, they do not tell.

        :param rows: the node's own tree
        :param stored: uuid → last reading, of these providers and others
        :param sharing: the list of sharing providers that counts now; None if
            it must be read
        """
        last = self._last.get(node_uuid)
        if (
            last is None
            or len(rows) != len(last.result.home)
            or (
                last.aggregates
                and (sharing is None or last.sharing is not sharing)
            )
        ):
            return None
        for row, reading in zip(rows, last.readings, strict=False):
            if stored.get(row.uuid) is not reading or is_stale(row, reading):
                return None
        return last.result

    def finish(
        self, builder: ObservationBuilder, sharing: object
    ) -> Observation:
        """Return the observation; the previous object if nothing changed.

        :param sharing: the list of sharing providers that it was made with
        """
        last = self._last.get(builder.node_uuid)
        if last is not None and last.is_same(builder):
            if last.sharing is not sharing:
                last = dataclasses.replace(last, sharing=sharing)
                self._last[builder.node_uuid] = last
            return last.result
        finished = builder.build()
        if builder.readings and not builder.fresh:
            self._last[builder.node_uuid] = _Finished(
                result=finished,
                readings=tuple(builder.readings.values()),
                aggregates=bool(builder.aggregates()),
                sharing=sharing,
            )
        else:
            self._last.pop(builder.node_uuid, None)
        return finished

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget the observations of all nodes but these."""
        for uuid in self._last.keys() - set(node_uuids):
            del self._last[uuid]
