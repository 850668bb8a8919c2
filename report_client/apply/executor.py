# SPDX-License-Identifier: Apache-2.0
"""Sending a plan's operations, in order, under the generation ledger.

The ledger maps provider to generation: the observation seeds it, every answer
moves it on. What is about to be sent is recorded first and confirmed after, so
that every request can be the last one. What depends on a refused operation is
left and said, the rest goes on; a conflict or an outage ends the node's
cycle, and so does a reshape, whose answer tells no generation. It plans nothing
and retries nothing.
"""

import contextlib
import dataclasses
import logging
import threading
from collections.abc import Callable, Collection
from typing import Protocol

from compute_agent import errors
from compute_agent.tree import names

from .. import errors as placement_errors
from ..http import codec, codec_allocations, placement
from ..observe import store
from ..operations import operations as ops
from ..plan import diff as planning
from ..plan import render
from . import circuit_breaker
from . import progress as run_

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a plan.

    :ivar applied: the operations that placement carried out
    :ivar refused: a line for each operation it refused, or that was left
    :ivar left: those operations, in the same order
    """

    applied: tuple[ops.Operation, ...]
    refused: tuple[str, ...] = ()
    left: tuple[ops.Operation, ...] = ()


class Names(Protocol):
    """The names that placement knows; see ``observe/observer.py``."""

    def remembered_names(self) -> names.KnownNames | None:
        """Return those it is remembered to know, None for no memory."""

    def learn_names(
        self, traits: frozenset[str], resource_classes: frozenset[str]
    ) -> None:
        """Remember names that were just created."""


class Executor:
    """Carries out plans against one placement service; threads may share it.

    :param clock: seconds since the epoch
    """

    def __init__(
        self,
        service: placement.Placement,
        journal: store.Journal,
        known: Names,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._service = service
        self._journal = journal
        self._names = known
        self._naming = threading.Lock()
        self._breaker = circuit_breaker.Breaker()
        self._clock = clock

    def looking(self) -> contextlib.AbstractContextManager[None]:
        """Look at placement: answered, what was away before is tried again."""
        return self._breaker.looking()

    def apply(
        self, plan: planning.Plan, without: Collection[ops.Operation] = ()
    ) -> Outcome:
        """Send the operations of one node's plan; return what became of them.

        :param without: those that were refused before and are left, with what
            depends on them
        :raises errors.AgentError: the node's cycle ends here; what was done
            until then is recorded
        """
        if not plan.operations and not plan.claims:
            return Outcome(applied=())
        run = run_.Run(plan, without)
        self._journal.begin(plan.node_uuid, run.intend(), plan.claims)
        try:
            self._create_names(run)
            for step in run.steps:
                if isinstance(step.operation, ops.NameOperation):
                    continue
                self._take(run, step)
                if step.done and isinstance(step.operation, ops.Reshape):
                    raise placement_errors.Reshaped(
                        'allocations were moved; what is there now is looked '
                        'at before anything else is done'
                    )
        except errors.AgentError as exc:
            exc.applied, exc.left = run.applied(), tuple(run.left)
            exc.refused = tuple(run.refused)
            raise
        finally:
            self._confirm(run)
        return Outcome(
            applied=run.applied(),
            refused=tuple(run.refused),
            left=tuple(run.left),
        )

    def _create_names(self, run: run_.Run) -> None:
        """Create the names that no other node's plan has created meanwhile.

        Nodes go side by side and share their names, so these go one by one.
        """
        if not any(
            isinstance(s.operation, ops.NameOperation) for s in run.steps
        ):
            return
        with self._naming:
            known = self._names.remembered_names()
            for step in list(run.steps):
                operation = step.operation
                if not isinstance(operation, ops.NameOperation):
                    continue
                if known is not None and planning.is_known(operation, known):
                    run.steps.remove(step)
                else:
                    self._take(run, step)
            created = ops.created_names(run.applied())
            if any(created):
                self._names.learn_names(*created)

    def _take(self, run: run_.Run, step: run_.Step) -> None:
        if step.failed:
            return
        subject = getattr(step.operation, 'uuid', step.operation.name)
        try:
            with self._breaker.watching(subject):
                step.unsure = True
                answer = self._send(run, step.operation)
        except errors.Refused as exc:
            step.unsure = False
            self._fail(run, step, exc)
        except placement_errors.ServerFault as exc:
            self._fail(run, step, exc)
        except placement_errors.FailsInside as exc:
            self._fail(run, step, exc.fault)  # it waits as those before it
            raise
        else:
            run.finish(step, answer)
            LOG.info('%s', render.line(step.operation))

    def _fail(
        self, run: run_.Run, step: run_.Step, exc: errors.AgentError
    ) -> None:
        """Note a refusal; what comes after it leads elsewhere than intended."""
        run.fail(step, exc)
        self._journal.begin(run.node_uuid, run.intend(), {})

    def _send(self, run: run_.Run, operation: ops.Operation) -> object:
        try:
            return self._service.send(_request(run, operation))
        except placement_errors.NameTaken as exc:
            raise self._whose_name(operation, exc) from exc
        except placement_errors.NotFound:
            if isinstance(operation, ops.DeleteProvider):
                return None  # gone already, which is what was wanted
            raise

    def _whose_name(
        self, operation: ops.Operation, exc: placement_errors.NameTaken
    ) -> errors.AgentError:
        """Tell a creation that had been done from a name that is taken."""
        if not isinstance(operation, ops.CreateProvider | ops.UpdateProvider):
            return exc
        rows = codec.listed_providers(
            self._service.get(codec.by_name_path(operation.name))
        )
        others = [row.uuid for row in rows if row.uuid != operation.uuid]
        if not others:
            return placement_errors.Exists(operation.name, operation.uuid)
        return placement_errors.NameTaken.by(
            others[0], operation.name, operation.uuid
        )

    def _confirm(self, run: run_.Run) -> None:
        """Record what was done; what may have been done stays an intent."""
        done = [i for s in run.steps if s.done for i in s.intents]
        dropped = [
            i
            for s in run.steps
            if not s.done and not s.unsure
            for i in s.intents
        ]
        self._journal.record_outcome(
            done,
            dropped,
            readings=run.readings(self._clock()),
            gone=run.gone(),
        )


def _request(run: run_.Run, operation: ops.Operation) -> codec.Request:
    if isinstance(operation, ops.Reshape):
        return codec_allocations.reshape(operation, run.ledger)
    generation = run.ledger.get(getattr(operation, 'uuid', ''))
    return codec.request(operation, generation)
