# SPDX-License-Identifier: Apache-2.0
"""Make sure that placement carries out no late write of a predecessor.

An agent that takes a share over inherits the intents of its predecessor. A
request that the predecessor sent may still be on its way, and placement carries
it out as long as the provider has the generation that it names. So the new
holder moves the generation of each such provider, before it finds out which of
these writes were carried out: it puts the aggregates that the provider has.
They are read and put at one generation, so no other writer's change is undone.

A provider that the predecessor created, and nobody wrote to since, has
generation 0. That is the proof of the creation, so it is recorded before the
generation moves.
"""

import logging
from collections.abc import Mapping, Sequence

from compute_agent import errors
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion

from .. import errors as placement_errors
from ..http import placement
from ..http.messages import codec_writes
from ..observe import reader, store

LOG = logging.getLogger(__name__)

_ATTEMPTS = 5


class Settling:
    """Settles the writes that this agent inherited."""

    def __init__(
        self,
        service: placement.Placement,
        read: reader.Reader,
        journal: store.Journal,
    ) -> None:
        self._service = service
        self._reader = read
        self._journal = journal

    def settle(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, errors.AgentError]:
        """Settle all inherited writes; return the nodes that cannot go on.

        ``GET`` and ``PUT /resource_providers/{uuid}/aggregates`` (1.19) for each
        provider with an inherited intent, once.

        :raises errors.Unavailable: placement does not answer
        """
        failed = {}
        for uuid in sorted(self._journal.inherited()):
            try:
                self._settle(uuid)
            except errors.Unavailable:
                raise
            except errors.AgentError as exc:
                failed[uuid] = exc
            else:
                self._journal.settled(uuid)
        if not failed:
            return {}
        return {
            node_uuid: failed[uuid]
            for node_uuid, by_provider in self._journal.intents(
                node_uuids
            ).items()
            for uuid in by_provider
            if uuid in failed
        }

    def _settle(self, uuid: str) -> None:
        """Move a provider's generation, unless the provider does not exist.

        :raises errors.AgentError: the write failed
        """
        kind = assertion.Kind.AGGREGATE
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                generation, names = self._reader.contents(uuid, kind)
                equal = ops.SetAggregates(
                    uuid=uuid, name=uuid, names=names, before=names
                )
                self._journal.prove()  # raises if this agent lost the share
                if generation == 0:
                    self._record_creation(uuid)
                self._service.send(
                    codec_writes.request(equal, {uuid: generation})
                )
            except placement_errors.NotFound:
                return  # no late creation can arrive any more
            except placement_errors.Conflict:
                if attempt == _ATTEMPTS:
                    raise
            else:
                LOG.info(
                    'provider %s: a write of the last holder cannot arrive '
                    'any more',
                    uuid,
                    extra={'node': uuid},
                )
                return

    def _record_creation(self, uuid: str) -> None:
        """Record that the predecessor created a provider."""
        found = self._journal.intents_on([uuid]).get(uuid, [])
        created = [intent for intent in found if intent.kind is None]
        if created:
            self._journal.record_outcome(created)
