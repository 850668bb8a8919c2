# SPDX-License-Identifier: Apache-2.0
"""Nodes that move between two shares of one database, with their records.

Only the agent that holds a share changes its record. So a node moves in two
commits, each under the lease of its own share:

* The node left this agent's list and exists, and the record of another share
  lists it without a right to write to it. This agent then *gives* the node's
  record away (``give``): its share drops it, and the database keeps it for nobody.
* An agent whose list has the node *takes* such a record (``take``).

So at each moment at most one share may write to the node. If nobody takes the
record, because the node left the other list as well, the giver takes it back:
else nobody would delete the provider when the node is gone.

``check`` is for a listed node of which this share has no record, while another
share has: a node that moved back, for example, before that share gave it away.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from ... import errors
from ...fleet.values import mark
from ...ownership import takeover
from ...plan.observation import Observation
from ...state import documents
from ...state.state import State
from ...state.values.node_record import GivenRecord, NodeRecord
from ...tree.node import Node

LOG = logging.getLogger(__name__)

GIVEN = (
    "left this driver's list, and the share {} lists it: that one's agent takes "
    'its record; nothing of it is removed'
)
_MANY = 500  # records of one transaction
_HELD = (
    'the agents of the share {} report the node, by their record in the shared '
    'database: this agent waits until the node has left their list; if that '
    'share will have no agent any more, "compute-agent sync --yes NODE" takes the '
    'node over'
)
_COMES = (
    'its record comes from the share {}: this agent takes it in the next cycle'
)

Seen = Mapping[str, Observation | errors.AgentError]
Observe = Callable[[Sequence[str]], Seen]


class Given(Protocol):
    """A record that no share has."""

    @property
    def document(self) -> str:
        """The text of a ``GivenRecord``."""


class Shares(Protocol):
    """The other shares in the database of this agent's share."""

    @property
    def share(self) -> str:
        """The name of this agent's share."""

    def elsewhere(
        self, keys: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """Return the documents of other shares: key, share, document."""

    def given(
        self, keys: Collection[str] | None = None
    ) -> Mapping[str, Given]:
        """Return the records that agents gave, and that nobody took."""


class OtherShares:
    """Gives records of nodes to the other shares, and takes records of theirs.

    ``check`` is called from several threads, the rest between them.

    :param listed: returns the nodes of the driver's list
    :param own: the mark of this agent
    """

    def __init__(
        self,
        shares: Shares,
        state: State,
        listed: Callable[[], Collection[str]],
        own: Callable[[], mark.Mark | None],
    ) -> None:
        self._shares = shares
        self._state = state
        self._listed = listed
        self._own = own
        self._lock = threading.Lock()
        self._others: Mapping[str, str] | None = None
        self._wanted = set[str]()
        self._gave: set[str] | None = None

    def take_over(self) -> None:
        """Begin anew: another agent wrote the record until now."""
        self._wanted.clear()
        self._gave = None

    # --- this agent lists a node of another share -----------------------------

    def begin(self) -> None:
        """Begin a cycle: the other shares are asked again, if need be."""
        self._others = None

    def check(self, node: Node, seen: Observation) -> None:
        """Wait if another share reports a node that this one has no record of.

        If the root has that share's mark, a person decides
        (``ownership/takeover.py``).

        :raises errors.UnknownState: the node is not to be written in this cycle
        """
        with self._lock:
            if self._others is None:
                self._others = self._look()
            why = self._others.get(node.uuid)
        root = seen.providers.get(node.uuid)
        if why and not (root and mark.others(root.traits, self._own())):
            raise errors.UnknownState(why)

    def take(self, seen: Seen) -> list[str]:
        """Take the records of nodes that this agent lists now.

        :param seen: the nodes of this cycle
        :return: the nodes whose records are this share's now
        :raises errors.Unavailable: the shared database is away
        """
        self._wanted &= set(self._listed())
        self._wanted &= self._state.records.without_rights(self._wanted)
        wanted = self._wanted & seen.keys()
        if not wanted:
            return []
        given = self._shares.given(wanted)
        standings = self._standings(given)
        free = {
            uuid: one
            for uuid, one in given.items()
            if not any(s.has_rights for s in standings[uuid].values())
        }
        return self._take(free, seen)

    def _look(self) -> dict[str, str]:
        """Return why nodes of the list wait for another share."""
        without = self._state.records.without_rights(self._listed())
        found = {
            uuid: _HELD.format(share)
            for uuid, shares in self._standings(without).items()
            for share, standing in shares.items()
            if standing.has_rights
        }
        for uuid, given in self._shares.given(without).items():
            try:
                record = GivenRecord.from_text(given.document)
            except errors.ConfigError as exc:
                found[uuid] = str(exc)
            else:
                found[uuid] = _COMES.format(record.share)
        self._wanted |= found.keys()
        return found

    def _take(self, given: Mapping[str, Given], seen: Seen) -> list[str]:
        """Take records; drop those whose providers are all gone."""
        of_share = dict[str, list[tuple[str, NodeRecord | None]]]()
        for uuid, record in _read(given).items():
            there = seen.get(uuid)
            if isinstance(there, Observation):
                fits = _fitting(record, there)
                of_share.setdefault(record.share, []).append((uuid, fits))
        taken = list[NodeRecord]()
        for share, found in of_share.items():
            for begin in range(0, len(found), _MANY):
                some = found[begin : begin + _MANY]
                records = [record for _, record in some if record]
                with contextlib.suppress(errors.Refused):  # another was first
                    self._state.handover.take(
                        {uuid: given[uuid] for uuid, _ in some}, records, share
                    )
                    taken += records
        for one in taken:
            LOG.info(
                'node %s: its record was taken over',
                one.node,
                extra={'node': one.node.uuid},
            )
        return [one.node.uuid for one in taken]

    def _standings(
        self, uuids: Collection[str]
    ) -> dict[str, dict[str, documents.Standing]]:
        """Return the part of each other share in these nodes."""
        found = self._shares.elsewhere(uuids)
        return {
            uuid: {
                share: documents.standing(uuid, text)
                for share, text in found.get(uuid, {}).items()
            }
            for uuid in uuids
        }

    # --- another share lists a node of this one -------------------------------

    def give(self, moved: Iterable[Node], observe: Observe) -> dict[str, str]:
        """Give the records of nodes away that another share lists.

        :param moved: the nodes that left this agent's list, and exist
        :param observe: returns the providers of nodes
        :return: the outcome for each node whose record this share gave away
        """
        try:
            self._tend(observe)
            return self._give(list(moved), observe)
        except (errors.Unavailable, errors.Refused) as exc:
            LOG.debug('no record is given to another share now: %s', exc)
            return {}

    def _give(self, moved: Sequence[Node], observe: Observe) -> dict[str, str]:
        wanted = {
            uuid: share
            for uuid, shares in self._standings(
                [node.uuid for node in moved]
            ).items()
            if (share := _that_waits(shares))
        }
        nodes = [node for node in moved if node.uuid in wanted]
        notes = dict[str, str]()
        for begin in range(0, len(nodes), _MANY):
            some = nodes[begin : begin + _MANY]
            seen = observe([node.uuid for node in some])
            given = [
                one
                for node in some
                if (one := self._to_give(node, seen.get(node.uuid)))
            ]
            if given:
                self._state.handover.give(given)
            for one in given:
                node = one.record.node
                notes[node.uuid] = GIVEN.format(wanted[node.uuid])
                LOG.info(
                    'node %s: its record is given to the share %s',
                    node,
                    wanted[node.uuid],
                    extra={'node': node.uuid},
                )
        if self._gave is not None:
            self._gave |= notes.keys()
        return notes

    def _to_give(
        self, node: Node, seen: Observation | errors.AgentError | None
    ) -> GivenRecord | None:
        """Return the record of a node, if all of it is certain, and its own."""
        if (
            not isinstance(seen, Observation)
            or node.uuid not in seen.providers
        ):
            return None
        recorded = self._state.records.record(seen.providers, node.uuid)
        own = recorded.of(seen.home)
        if takeover.marks_on(node.uuid, seen.providers, recorded, self._own()):
            return None  # yet another agent took the node over
        if any(uuid in seen.home for uuid, _ in recorded.others):
            return None  # other nodes of this share use a part of it
        created = self._state.records.created_for([node.uuid])
        if not own.created.issuperset(created.get(node.uuid, ())):
            return None  # a pool was created for it
        try:
            record = self._state.handover.export_record(node)
        except errors.AgentError as exc:
            LOG.debug('node %s stays with this share: %s', node, exc)
            return None
        mark_of_own = self._own()
        return GivenRecord(
            share=self._shares.share,
            mark=mark_of_own.trait if mark_of_own else '',
            record=record,
            generations={
                uuid: seen.providers[uuid].generation or 0
                for uuid in seen.home
            },
        )

    def _tend(self, observe: Observe) -> None:
        """Take back the records that no other share wants any more.

        :raises errors.Unavailable: the shared database is away
        """
        if self._gave is None:
            self._gave = {
                uuid
                for uuid, one in _read(self._shares.given()).items()
                if one.share == self._shares.share
            }
        if not self._gave:
            return
        given = self._shares.given(self._gave)
        self._gave &= given.keys()
        standings = self._standings(given)
        for uuid, one in given.items():
            if any(other.has_rights for other in standings[uuid].values()):
                # The database lost the commit of the taker, which made it again.
                own = self._shares.share
                self._state.handover.take({uuid: one}, [], own)
        left = {
            uuid: one
            for uuid, one in given.items()
            if uuid not in self._listed()
            and not any(
                one.lists or one.has_rights for one in standings[uuid].values()
            )
        }
        if left:
            self._take(left, observe(list(left)))


def _that_waits(shares: Mapping[str, documents.Standing]) -> str:
    """Return the share that lists a node, if no share may write to it."""
    if any(one.has_rights for one in shares.values()):
        return ''
    return next((share for share, one in shares.items() if one.lists), '')


def _read(given: Mapping[str, Given]) -> dict[str, GivenRecord]:
    """Return the records that this agent can read."""
    found = dict[str, GivenRecord]()
    for uuid, one in given.items():
        with contextlib.suppress(errors.ConfigError):
            found[uuid] = GivenRecord.from_text(one.document)
    return found


def _fitting(given: GivenRecord, seen: Observation) -> NodeRecord | None:
    """Return the part of a record whose providers placement has."""
    generations = {
        uuid: one.generation or 0 for uuid, one in seen.providers.items()
    }
    return given.fitting(seen.home, generations)
