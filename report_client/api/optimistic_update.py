# SPDX-License-Identifier: Apache-2.0
"""Change one collection of one provider without losing another change.

Placement replaces traits, aggregates and inventories as a whole, and only if
the request has the provider's current generation. So a change reads, merges
and writes under the generation that it read. If another writer changed the
provider in between, it starts again. Placement checks the generation of a PUT
of a collection, but not of a DELETE; so even an empty collection is written by
a PUT.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import tenacity

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.plan.operations import operations
from compute_agent.tree import provider

from .. import errors
from ..http import codec, codec_writes, paths, placement

ATTEMPTS = 30
FIRST_WAIT = 0.05  # seconds; a wait is random, from 0 to twice the last limit
LONGEST_WAIT = 2  # seconds

_Edit = TypeVar('_Edit', bound=operations.SetOperation)
_Done_co = TypeVar('_Done_co', bound=operations.SetOperation, covariant=True)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[_Done_co]):
    """A change of a provider's contents that was made, or was not needed.

    :ivar generation: the provider's generation after the change
    """

    operation: _Done_co
    generation: int

    @property
    def is_change(self) -> bool:
        """True if something was written."""
        return is_change(self.operation)

    @property
    def added(self) -> frozenset[str]:
        """The names that the provider did not have."""
        return self.operation.added

    @property
    def removed(self) -> frozenset[str]:
        """The names that the provider has no more."""
        return self.operation.removed


class OptimisticUpdate:
    """Makes optimistic updates in one placement service.

    :param sleep: called with seconds before another attempt
    """

    def __init__(
        self,
        service: placement.Placement,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=tenacity.wait_random_exponential(
                multiplier=FIRST_WAIT, max=LONGEST_WAIT
            ),
            retry=tenacity.retry_if_exception_type(
                (errors.Conflict, errors.UnknownName)
            ),
            sleep=sleep,
            reraise=True,
        )

    def change(
        self,
        target: codec.ListedProvider,
        kind: Any,
        edit: Callable[[Any], _Edit],
        unknown: Callable[[_Edit], object] = lambda _: None,
        expected: int | None = None,
    ) -> Change[_Edit]:
        """Return the operation, sent or not needed.

        If the edit changes nothing, nothing is sent.

        :param kind: an ``assertion.Kind``
        :param edit: returns the wanted operation for the current content
        :param unknown: called if placement does not know a name in the
            operation; creates names that may be created, and raises for others
        :param expected: the only generation under which to write
        :raises errors.Outdated: the provider does not have that generation
        :raises errors.Conflict: other writers changed it during every attempt
        :raises errors.NotFound: the provider was deleted
        """

        def attempt() -> Change[_Edit]:
            generation, before = self.contents(target, kind)
            if expected not in {None, generation}:
                now = f'has generation {generation} now'
                raise _outdated(target, expected, now)
            wanted = edit(before)
            if not is_change(wanted):
                return Change(operation=wanted, generation=generation)
            try:
                return self._send(target, wanted, generation)
            except errors.UnknownName:
                unknown(wanted)
                raise
            except errors.Conflict as exc:
                if expected is None:
                    raise
                why = 'was changed by another writer just now'
                raise _outdated(target, expected, why) from exc

        try:
            return self._retrying(attempt)
        except (errors.Conflict, errors.UnknownName) as exc:
            raise errors.Conflict(
                f'{provider.title(target.name, target.uuid)}: nothing was '
                'written, because other writers changed it during each of '
                f'{ATTEMPTS} attempts; try again ({exc})'
            ) from exc

    def _send(
        self, target: codec.ListedProvider, wanted: _Edit, generation: int
    ) -> Change[_Edit]:
        with naming_provider(target):
            answer = self._service.send(
                codec_writes.request(wanted, {target.uuid: generation})
            )
        return Change(
            operation=wanted, generation=codec.generation_after(answer)
        )

    def contents(
        self, target: codec.ListedProvider, kind: Any
    ) -> tuple[int, Any]:
        """Return generation and content of one collection of a provider.

        :raises errors.NotFound: the provider was deleted
        """
        path = paths.collection(check_provider(target).uuid, kind)
        with naming_provider(target):
            return codec.contents(kind, self._service.get(path))


class ProviderContents:
    """Base of the classes that read and change one kind of contents.

    :param sleep: called with seconds before another attempt
    """

    def __init__(
        self,
        service: placement.Placement,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._update = OptimisticUpdate(service, sleep)

    def contents(
        self, target: codec.ListedProvider, kind: Any
    ) -> tuple[int, Any]:
        """Return a provider's generation, and one kind of its contents.

        :param kind: an ``assertion.Kind``
        :raises errors.NotFound: the provider was deleted (404)
        """
        return self._update.contents(target, kind)


def check_provider(target: codec.ListedProvider) -> codec.ListedProvider:
    """Return the argument if it is a provider of a list.

    :raises agent_errors.InvalidName: it is something else, perhaps a name
    """
    if not isinstance(target, codec.ListedProvider):
        raise agent_errors.InvalidName(
            f'{error_text.excerpt(target)} is not a provider: Providers.find() returns the '
            'provider with a name or uuid'
        )
    return target


@contextlib.contextmanager
def naming_provider(target: codec.ListedProvider) -> Iterator[None]:
    """Add the provider's name to the error for a missing provider."""
    try:
        yield
    except errors.UnknownName:
        raise  # the provider exists
    except errors.NotFound as exc:
        title = provider.title(target.name, target.uuid)
        raise errors.NotFound(f'{title} is gone') from exc


def is_change(operation: operations.SetOperation) -> bool:
    """Return True if the operation changes the content that was read."""
    if isinstance(operation, operations.SetInventories):
        return operation.inventories != operation.before
    return operation.names != operation.before


def _outdated(
    target: codec.ListedProvider, expected: int | None, why: str
) -> errors.Outdated:
    return errors.Outdated(
        f'{provider.title(target.name, target.uuid)} {why}: nothing was '
        f'written under generation {expected}; read the provider again'
    )
