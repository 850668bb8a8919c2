# SPDX-License-Identifier: Apache-2.0
"""Changing one collection of one provider so that no other change is lost.

Traits, aggregates and inventories are replaced as a whole, under the
provider's generation: so a change reads, merges and writes with the generation
that was read, and does it all again when another writer came between.
Placement guards the PUT alone, never the DELETE, of a collection; this is why
even "none" is written by a PUT.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import tenacity

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.tree import provider

from .. import errors
from ..http import codec, placement
from ..operations import operations

ATTEMPTS = 30
FIRST_WAIT = 0.05  # seconds; each wait is drawn from 0 to twice the last one
LONGEST_WAIT = 2

_Edit = TypeVar('_Edit', bound=operations.SetOperation)


class Guarded:
    """Makes guarded changes in one placement service.

    :param sleep: waits for so many seconds before another attempt
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
        one: codec.Listed,
        kind: Any,
        edit: Callable[[Any], _Edit],
        unknown: Callable[[_Edit], object] = lambda _: None,
    ) -> _Edit:
        """Return what was written, or what need not be for it is so.

        :param edit: turns what is there into what shall be
        :param unknown: called when placement does not know a name in it;
            creates what may be created, and raises for the rest
        :raises errors.Conflict: others came between, each time
        :raises errors.Vanished: the provider is gone
        """

        def attempt() -> _Edit:
            generation, before = self.contents(one, kind)
            wanted = edit(before)
            if not is_change(wanted):
                return wanted
            try:
                with naming(one):
                    self._service.send(codec.request(wanted, generation))
            except errors.UnknownName:
                unknown(wanted)
                raise
            return wanted

        try:
            return self._retrying(attempt)
        except (errors.Conflict, errors.UnknownName) as exc:
            raise errors.Conflict(
                f'{provider.title(one.name, one.uuid)}: others changed it '
                f'during each of {ATTEMPTS} attempts; nothing was written, '
                f'try again ({exc})'
            ) from exc

    def contents(self, one: codec.Listed, kind: Any) -> tuple[int, Any]:
        """Return generation and content of one collection.

        :raises errors.Vanished: the provider is gone
        """
        path = codec.collection(check(one).uuid, kind)
        with naming(one):
            return codec.contents(kind, self._service.get(path))


class Changes:
    """What reads and changes one kind of contents: it has what this needs.

    :param sleep: waits for so many seconds before another attempt
    """

    def __init__(
        self,
        service: placement.Placement,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._guarded = Guarded(service, sleep)


def check(one: codec.Listed) -> codec.Listed:
    """Return a provider, if it is one.

    :raises agent_errors.InvalidName: it is something else, its name perhaps
    """
    if not isinstance(one, codec.Listed):
        raise agent_errors.InvalidName(
            f'{error_text.excerpt(one)} is no provider: Providers.find() returns the '
            'one of a name or uuid'
        )
    return one


@contextlib.contextmanager
def naming(one: codec.Listed) -> Iterator[None]:
    """Let an error that the provider is gone name it."""
    try:
        yield
    except errors.UnknownName:
        raise  # the provider is there
    except errors.NotFound as exc:
        title = provider.title(one.name, one.uuid)
        raise errors.NotFound(f'{title} is gone') from exc


def is_change(operation: operations.SetOperation) -> bool:
    """Whether it leaves another content than it found."""
    if isinstance(operation, operations.SetInventories):
        return operation.inventories != operation.before
    return operation.names != operation.before
