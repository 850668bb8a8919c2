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
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager

from compute_agent import errors
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Outcome, Plan

from .. import errors as placement_errors
from ..http import placement
from ..http.messages import codec, codec_writes, paths
from ..observe import store
from ..observe.observer import Observer
from ..observe.verify import Verifier
from ..plan import render
from ..plan.progress import Progress, Step

LOG = logging.getLogger(__name__)

IN_A_ROW = 3  # providers that get a 500 until the circuit breaker opens


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
        self._breaker = CircuitBreaker()
        self._clock = clock

    def broken(self) -> str:
        """Return why the circuit breaker is open; empty while it is closed."""
        return self._breaker.reason

    def observing(self) -> contextlib.AbstractContextManager[None]:
        """Return a context for reads; an answer closes the circuit breaker."""
        return self._breaker.observing()

    def apply(self, plan: Plan, without: Collection[Hashable] = ()) -> Outcome:
        """Send the operations of one node's plan; return the outcome.

        :param without: operations that were refused before; they are not sent,
            and neither are those that depend on them
        """
        if not plan.operations and not plan.claims:
            return Outcome()
        progress = Progress(plan, without)
        self._journal.begin(plan.node_uuid, progress.intend(), plan.claims)
        try:
            self._create_names(progress)
            for step in progress.provider_steps():
                self._send(progress, step)
        except errors.AgentError as exc:
            progress.ended_by = exc
        finally:
            self._confirm(progress)
        return progress.outcome()

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

        :raises placement_errors.Reshaped: a reshape was carried out, and its
            answer tells no generation
        """
        if progress.skips(step):
            return
        self._claim(progress, step)
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
                answer = self._answer(progress, step.operation)
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
            LOG.info(
                '%s',
                render.line(step.operation),
                extra={'node': progress.node_uuid},
            )

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
        progress.stop(step, exc)
        self._journal.begin(progress.node_uuid, progress.intend(), {})

    def _claim(self, progress: Progress, step: Step) -> None:
        """Record the creations that nothing would show after this step.

        Another agent may create the same provider. Without this record, this
        agent could not tell after a crash which of them did.
        """
        for made in progress.unproved(step):
            self._journal.record_outcome(progress.record(made))

    def _answer(self, progress: Progress, operation: ops.Operation) -> object:
        """Return placement's answer to an operation."""
        try:
            return self._service.send(
                codec_writes.request(operation, progress.ledger)
            )
        except placement_errors.NameTaken as exc:
            raise self._name_taken(progress.node_uuid, operation, exc) from exc
        except placement_errors.NotFound:
            if operation.is_done_if_absent:
                return None
            raise

    def _name_taken(
        self,
        node_uuid: str,
        operation: ops.Operation,
        exc: placement_errors.NameTaken,
    ) -> errors.AgentError:
        """Return an error that names the provider with this name.

        If the provider itself has the name, an earlier attempt was carried
        out.
        """
        if not isinstance(operation, ops.CreateProvider | ops.UpdateProvider):
            return exc
        name, uuid = operation.name, operation.uuid
        rows = codec.sound_providers(self._service.get(paths.by_name(name)))
        others = [row for row in rows if row.uuid != uuid]
        if not others:
            return placement_errors.Exists(name, uuid)
        other = others[0]
        if uuid == node_uuid:
            return placement_errors.NameTaken.by(other.uuid, name, uuid)
        if operation.parent_uuid is not None:
            return placement_errors.NameTaken.of_child(
                other.uuid, other.root_uuid, name
            )
        return placement_errors.NameTaken.of_pool(other.uuid, name)

    def _fail(
        self, progress: Progress, step: Step, exc: errors.AgentError
    ) -> None:
        """Note a refusal, and record the generations that it changes."""
        uuids = progress.fail(step, exc)
        self._journal.amend(
            progress.node_uuid, uuids, progress.intend_on(uuids)
        )

    def _confirm(self, progress: Progress) -> None:
        """Record the outcome; a write of unknown outcome stays an intent.

        If this record is lost, a reading settles the intents, unless the plan
        has a creation that no reading would show.
        """
        self._journal.record_outcome(
            progress.confirmed(),
            progress.dropped(),
            readings=progress.readings(self._clock()),
            gone=progress.gone(),
            entries=progress.history_entries(),
            may_be_lost=not progress.unproved(),
        )


class CircuitBreaker:
    """Tells if placement or one provider is broken; threads may share it.

    One answer 500 fails the provider that the request was about. If requests
    about several different providers in a row (``IN_A_ROW``) get a 500, the
    placement service itself is broken, and the breaker opens: no further write
    begins. The count ignores nodes and threads, and any other answer in between
    resets it to zero. An ``observe`` that begins while the breaker is open and
    gets an answer closes it.

    The executor watches writes only. Reads are not watched, because a few
    providers that cannot be read would stop the reading of all others in every
    cycle; the list of providers, which comes first, shows a broken service
    anyway.
    """

    def __init__(self, in_a_row: int = IN_A_ROW) -> None:
        self._in_a_row = in_a_row
        self._failed: set[str] = set()
        self._away: str | None = None  # the reason, while it is open
        self._openings = 0
        self._counting = threading.Lock()

    @property
    def reason(self) -> str:
        """Why it is open; empty while it is closed."""
        return self._away or ''

    @contextmanager
    def watching(self, subject: str) -> Iterator[None]:
        """Count the result of a write to this provider, or of this name.

        :raises placement_errors.FailsInside: this write is the 500 that opens it
        :raises placement_errors.Unreachable: the breaker is open, so the write does not
            begin
        """
        away = self._away
        if away is not None:
            raise placement_errors.Unreachable(away)
        try:
            yield
        except placement_errors.ServerFault as exc:
            away = self._counted(subject, exc)
            if away is not None:
                raise placement_errors.FailsInside(away, exc) from exc
            raise
        except placement_errors.NotAuthorised:
            self._answered()
            raise
        except errors.Unavailable:
            raise  # no answer, or not sent: this does not count
        except Exception:
            self._answered()
            raise
        self._answered()

    @contextmanager
    def observing(self) -> Iterator[None]:
        """Close the breaker, if it is open now, once the read is answered."""
        before = self._openings
        yield
        with self._counting:
            if self._away is not None and self._openings == before:
                self._failed.clear()
                self._away = None

    def _counted(
        self, subject: str, exc: placement_errors.ServerFault
    ) -> str | None:
        """Count a 500; return the reason if the breaker is open now."""
        with self._counting:
            self._failed.add(subject)
            if len(self._failed) < self._in_a_row:
                return None
            if self._away is None:
                self._openings += 1
            self._away = (
                f'placement answers 500 for {self._in_a_row} providers in a '
                f'row, the last time: {exc}'
            )
            return self._away

    def _answered(self) -> None:
        with self._counting:
            self._failed.clear()
