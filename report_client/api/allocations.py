# SPDX-License-Identifier: Apache-2.0
"""The allocations of a consumer: read, replaced, and taken off.

Each docstring gives the route, its status codes and its microversion. A write
is sent under the consumer's generation that was read, so it loses no change of
another writer: after a 409 it is tried again from a new reading, or refused if
the caller gave the whole set.
"""

from collections.abc import Collection, Mapping

from compute_agent import errors as agent_errors
from compute_agent.plan import allocations as alloc
from compute_agent.tree import inventory, names

from .. import errors
from ..http import placement
from ..http.messages import codec, codec_allocations, paths
from . import resource_classes

_ATTEMPTS = 5


class Allocations:
    """The allocations of the consumers of one placement service."""

    def __init__(self, service: placement.Placement) -> None:
        self._service = service

    def show(
        self, consumer: str
    ) -> tuple[alloc.Consumer, dict[str, int]] | None:
        """Return a consumer with the generations of its providers, or None.

        ``GET /allocations/{consumer}`` (1.28; the type from 1.38): 200.

        :raises agent_errors.InvalidName: it is not a uuid
        """
        uuid = names.check_uuid(consumer, 'consumer')
        body = self._service.get(paths.consumer(uuid))
        return codec_allocations.consumer(uuid, body)

    def replace(
        self, wanted: alloc.Consumer, before: alloc.Consumer | None
    ) -> None:
        """Give a consumer exactly these allocations.

        ``PUT /allocations/{consumer}`` (1.28; 1.38 for a type): 204; 400 for
        an unknown provider or resource class; 409 if the consumer changed, or
        if an amount is not free.

        :param wanted: its generation is not used
        :param before: the consumer as it was read, None if it had nothing
        :raises errors.Conflict: the consumer changed meanwhile
        :raises errors.DoesNotExist: there is no such provider or class
        """
        request = codec_allocations.replacement(
            wanted, None if before is None else before.generation
        )
        needed = (1, 38) if wanted.consumer_type else codec.OLDEST
        try:
            self._service.send(request, needed)
        except (errors.BadRequest, errors.UnknownName) as exc:
            self._check_names(wanted)
            raise errors.DoesNotExist(str(exc)) from exc

    def remove(
        self,
        consumer: str,
        providers: Collection[str] = (),
        classes: Collection[str] = (),
    ) -> tuple[alloc.Consumer | None, alloc.Parts]:
        """Take allocations off a consumer; the others stay.

        The requests are those of ``show`` and ``replace``, and are repeated
        if another writer changes the consumer in between.

        :param providers: uuids; empty for all
        :param classes: resource classes; empty for all
        :return: the consumer as it was, and what was taken off
        :raises errors.Conflict: the consumer changed during each attempt
        """
        for left in range(_ATTEMPTS, 0, -1):
            found = self.show(consumer)
            if found is None:
                return None, {}
            before = found[0]
            gone = _chosen(before.allocations, providers, classes)
            if not gone:
                return before, {}
            try:
                self._service.send(
                    codec_allocations.remainder(before, _less(before, gone))
                )
            except errors.Conflict:
                if left == 1:
                    raise
                continue
            return before, gone
        raise AssertionError('the last attempt returns or raises')

    def used_by(self, project: str, user: str | None = None) -> dict[str, int]:
        """Return resource class → amount that a project has, or one user of it.

        ``GET /usages?project_id=`` (1.9): 200.
        """
        return codec_allocations.usages(
            self._service.reply(codec_allocations.used_by(project, user)).body
        )

    def _check_names(self, wanted: alloc.Consumer) -> None:
        """Look up the names of a refused request.

        :raises errors.DoesNotExist: placement does not know one
        """
        classes = {rc for part in wanted.allocations.values() for rc in part}
        resource_classes.ResourceClasses(self._service).check(classes)
        for uuid in wanted.allocations:
            if not self._service.get(paths.by_uuid(uuid))[
                'resource_providers'
            ]:
                raise errors.DoesNotExist(f'no provider is called {uuid}')


def check_amounts(resources: Mapping[str, int]) -> None:
    """Check the amounts of one provider.

    :raises agent_errors.InvalidName: a class or an amount is invalid
    """
    for rc, amount in resources.items():
        names.check_symbol(rc, 'resource class')
        if not 1 <= amount <= inventory.MAX_INT:
            raise agent_errors.InvalidName(
                f'{rc}: {amount} is not a valid amount; give 1 to '
                f'{inventory.MAX_INT}'
            )


def _chosen(
    parts: alloc.Parts, providers: Collection[str], classes: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return the allocations of these providers and classes."""
    found = {
        uuid: {
            rc: amount
            for rc, amount in part.items()
            if not classes or rc in classes
        }
        for uuid, part in parts.items()
        if not providers or uuid in providers
    }
    return {uuid: part for uuid, part in found.items() if part}


def _less(
    before: alloc.Consumer, gone: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the allocations that stay."""
    left = {
        uuid: {
            rc: amount
            for rc, amount in part.items()
            if rc not in gone.get(uuid, {})
        }
        for uuid, part in before.allocations.items()
    }
    return {uuid: part for uuid, part in left.items() if part}
