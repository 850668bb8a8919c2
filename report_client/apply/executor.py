# SPDX-License-Identifier: Apache-2.0
"""The executor: send a plan's operations in order.

Each write carries the generation that the ledger has for its provider: the
observation fills the ledger, and each answer advances it. The executor records
an intent before it sends a write, and confirms it after the answer, so that
the process may die at any request. A part of a provider is read again just
before it is written. If an operation is refused, or meets another writer's
change, the operations that depend on it are not sent, and the others are. An
outage ends the node's cycle at once, and so does a reshape, whose answer tells
no generation. The executor plans nothing and retries nothing.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from compute_agent import errors
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Outcome, Plan
from compute_agent.tree import assertion, names, provider

from .. import errors as placement_errors
from ..http import codec, codec_writes, paths, placement
from ..observe import store
from ..plan import render
from . import circuit_breaker, history_entries
from .progress import Progress
from .step import Step

LOG = logging.getLogger(__name__)


class Names(Protocol):
    """The names that placement knows; see ``observe/name_cache.py``."""

    def remembered(self) -> names.KnownNames | None:
        """Return the remembered names, None if none are remembered."""

    def learn(
        self, traits: frozenset[str], resource_classes: frozenset[str]
    ) -> None:
        """Remember names that were just created in placement."""

    def forget(self) -> None:
        """Read the names again when they are needed next."""


class Observer(Protocol):
    """The observations that an apply changes; see ``observe/observer.py``."""

    @property
    def names(self) -> Names:
        """The names that placement knows."""

    def watch_provider(self, node_uuid: str, uuid: str) -> None:
        """Include a provider in a node's observations."""


class Verifier(Protocol):
    """Reads a part of a provider again; see ``observe/verify.py``."""

    def verify(
        self, expected: provider.Provider, kind: assertion.Kind
    ) -> None:
        """Raise ``errors.Replan`` if the part is not as expected."""


class Executor:
    """Carries out plans against one placement service; threads may share it.

    :param clock: seconds since the epoch
    """

    def __init__(
        self,
        service: placement.Placement,
        journal: store.Journal,
        observer: Observer,
        verifier: Verifier,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._service = service
        self._journal = journal
        self._observer = observer
        self._verifier = verifier
        self._naming = threading.Lock()
        self._breaker = circuit_breaker.CircuitBreaker()
        self._clock = clock

    def broken(self) -> str:
        """Return why the circuit breaker is open; empty while it is closed."""
        return self._breaker.reason

    def observing(self) -> contextlib.AbstractContextManager[None]:
        """Return a context for reads; an answer closes the circuit breaker."""
        return self._breaker.observing()

    def apply(self, plan: Plan, without: Collection[object] = ()) -> Outcome:
        """Send the operations of one node's plan; return the outcome.

        :param without: operations that were refused before; they are not sent,
            and neither are those that depend on them
        :raises errors.Replan: some operations met another writer's change;
            all that do not depend on them were carried out, or refused
        :raises errors.AgentError: the node's cycle ends here; the operations
            that were carried out until then are recorded
        """
        if not plan.operations and not plan.claims:
            return Outcome(applied=())
        progress = Progress(plan, without)
        self._journal.begin(plan.node_uuid, progress.intend(), plan.claims)
        try:
            self._create_names(progress)
            for step in progress.provider_steps():
                self._send(progress, step)
            progress.raise_conflict()
        except errors.AgentError as exc:
            exc.applied, exc.not_applied = (
                progress.applied(),
                tuple(progress.left),
            )
            exc.refused = tuple(progress.refused)
            progress.end = str(exc)
            raise
        finally:
            self._confirm(progress)
        return Outcome(
            applied=progress.applied(),
            refused=tuple(progress.refused),
            not_applied=tuple(progress.left),
        )

    def _create_names(self, progress: Progress) -> None:
        """Create the names that no other node's plan has created meanwhile.

        Nodes are applied in parallel and share their names, so a lock lets
        one plan at a time create names.
        """
        steps = progress.name_steps()
        if not steps:
            return
        with self._naming:
            known = self._observer.names.remembered()
            for step in steps:
                if known is not None and ops.is_known(step.operation, known):
                    progress.steps.remove(step)
                else:
                    self._send(progress, step)
            created = ops.created_names(progress.applied())
            if created.traits or created.resource_classes:
                self._observer.names.learn(
                    created.traits, created.resource_classes
                )

    def _send(self, progress: Progress, step: Step) -> None:
        """Verify and send one step, unless it is blocked; note the outcome.

        :raises placement_errors.Reshaped: it is a reshape that was carried
            out, whose answer tells no generation
        """
        if step.failed:
            return
        try:
            for expected, kind in progress.unverified(step):
                self._verifier.verify(expected, kind)
                progress.fresh.add((expected.uuid, kind))
            self._write(progress, step)
        except errors.Replan as exc:
            self._stop(progress, step, exc)
        if step.done and not step.operation.tells_generations:
            raise placement_errors.Reshaped(
                'allocations were moved; the node is observed again before '
                'anything else is sent'
            )

    def _write(self, progress: Progress, step: Step) -> None:
        """Send one step; note that it was carried out or refused."""
        try:
            with self._breaker.watching(step.operation.subject):
                step.unsure = True
                answer = self._answer(step.operation, progress.ledger)
        except errors.Refused as exc:
            step.unsure = False
            self._fail(progress, step, exc)
        except placement_errors.ServerFault as exc:
            self._fail(progress, step, exc)
        except placement_errors.FailsInside as exc:
            self._fail(progress, step, exc.fault)  # retried too
            raise
        else:
            progress.finish(step, answer)
            self._claim(progress, step)
            LOG.info('%s', render.line(step.operation))

    def _stop(
        self, progress: Progress, step: Step, exc: errors.Replan
    ) -> None:
        """Note that a step met another writer's change; drop its intents.

        A write that placement answers 409 may have been carried out, if
        something on the way to placement repeated the request. So its intent
        stays until the provider is read again.
        """
        if isinstance(exc, placement_errors.Exists):
            step.unsure = not progress.needs_proof(step)
            self._observer.watch_provider(progress.node_uuid, exc.uuid)
        if isinstance(exc, placement_errors.NotFound):
            self._observer.names.forget()
        exc.subject = provider.title(
            step.operation.name, step.operation.subject
        )
        progress.stop(step, exc)
        self._journal.begin(progress.node_uuid, progress.intend(), {})

    def _claim(self, progress: Progress, step: Step) -> None:
        """Record at once a creation that its uuid does not show to be ours.

        Another agent may create the same provider. Without this record, this
        agent could not tell after a crash which of them did.
        """
        if progress.needs_proof(step):
            self._journal.record_outcome(step.intents)
            step.intents = ()

    def _answer(
        self, operation: ops.Operation, ledger: Mapping[str, int]
    ) -> object:
        """Return placement's answer to an operation."""
        try:
            return self._service.send(codec_writes.request(operation, ledger))
        except placement_errors.NameTaken as exc:
            raise self._name_taken(operation, exc) from exc
        except placement_errors.NotFound:
            if operation.is_done_if_absent:
                return None
            raise

    def _name_taken(
        self, operation: ops.Operation, exc: placement_errors.NameTaken
    ) -> errors.AgentError:
        """Return an error that names the provider with this name.

        If the provider itself has the name, an earlier attempt was carried
        out.
        """
        name, uuid = operation.taken_name, operation.subject
        if name is None:
            return exc
        rows = codec.sound_providers(self._service.get(paths.by_name(name)))
        others = [row.uuid for row in rows if row.uuid != uuid]
        if not others:
            return placement_errors.Exists(name, uuid)
        return placement_errors.NameTaken.by(others[0], name, uuid)

    def _fail(
        self, progress: Progress, step: Step, exc: errors.AgentError
    ) -> None:
        """Note a refusal, and record the generations that it changes."""
        progress.fail(step, exc)
        self._journal.begin(progress.node_uuid, progress.intend(), {})

    def _confirm(self, progress: Progress) -> None:
        """Record the outcome; a write of unknown outcome stays an intent."""
        self._journal.record_outcome(
            progress.confirmed(),
            progress.dropped(),
            readings=progress.readings(self._clock()),
            gone=progress.gone(),
            entries=history_entries.of(progress),
        )
