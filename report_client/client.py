# SPDX-License-Identifier: Apache-2.0
"""The facade through which the agent reaches placement.

It joins observe, plan and apply. The store keeps everything that must not be
lost; other data in memory only saves work. ``compute_agent/cmd`` makes the
client, and the cycles call it. It decides nothing about ownership: other
programs call ``compute_agent/scheduler_report_client.py``.
"""

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)

from compute_agent import errors
from compute_agent.plan import allocations as alloc
from compute_agent.plan.needs import Known, Needs
from compute_agent.plan.observation import Observation
from compute_agent.plan.plan import Outcome, Plan

from .apply import executor as applying
from .apply import settling
from .http import placement
from .observe import fallen, observation, reader, store, verify
from .observe import observer as observing


class ReportClient:
    """Observes placement, and sends the plans of the agent.

    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which even a provider that seems
        unchanged is read again; 0 for never
    :param sharing_interval: seconds for which the list of other writers'
        sharing providers is reused; 0 to ask in each cycle
    :param workers: the number of nodes that are read at a time
    :param fall_wait: seconds for which a lower generation may be a late answer
    """

    def __init__(
        self,
        service: placement.Placement,
        state: store.State,
        *,
        clock: Callable[[], float],
        full_read_interval: float = 3600,
        sharing_interval: float = 300,
        workers: int = 1,
        fall_wait: float = fallen.WAIT,
    ) -> None:
        self._observer = observing.Observer(
            service,
            state,
            clock=clock,
            full_read_interval=full_read_interval,
            sharing_interval=sharing_interval,
            workers=workers,
            fall_wait=fall_wait,
        )
        read = reader.Reader(service, clock)
        self._verifier = verify.Verifier(read, state)
        self._settling = settling.Settling(service, read, state.journal)
        self._executor = applying.Executor(
            service,
            state.journal,
            self._observer,
            self._verifier,
            clock=clock,
        )
        self.where = service.where

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Observation | errors.AgentError]:
        """Return each node's providers, or why they are unknown.

        ``GET /resource_providers`` once for all nodes (in a cloud that is much
        larger than these nodes, once for each), once more for sharing
        providers where there are aggregates and the last answer is too old,
        and three reads for each provider that changed since it was last read
        (microversion 1.30 to 1.39). If the circuit breaker was open, an answer
        closes it. After this agent took a share over, it first settles each
        write that it inherited (``settling.py``).

        :raises errors.AgentError: not even the list could be read
        """
        with self._executor.observing():
            unsettled = self._settling.settle(node_uuids)
            others = [uuid for uuid in node_uuids if uuid not in unsettled]
            return {**self._observer.observe(others), **unsettled}

    def begin_warm(
        self, node_uuids: Sequence[str]
    ) -> Sequence[observation.ObservationBuilder]:
        """Learn if placement answers, and which providers ``warm`` reads.

        The first request of ``observe``.

        :param node_uuids: the nodes that the standby would report; at least
            one
        :raises errors.AgentError: placement does not answer, or not this agent
        """
        return self._observer.begin_warm(node_uuids)

    def warm(
        self,
        begun: Sequence[observation.ObservationBuilder],
        may_go_on: Callable[[], bool],
    ) -> Mapping[str, Observation]:
        """Read what changed, so that the first ``observe`` as a holder is short.

        Three reads for each provider that changed since it was last read. The
        record and the history stay as they are.

        :param may_go_on: called before each provider
        :return: node uuid → what ``observe`` would return, for the nodes whose
            observation needs no further reads
        :raises errors.Unavailable: placement does not answer any more
        """
        return self._observer.warm(begun, may_go_on)

    def broken(self) -> str:
        """Return why the circuit breaker is open; empty while it is closed."""
        return self._executor.broken()

    def invalidate(self) -> None:
        """List sharing providers and all trees at the next ``observe``."""
        self._observer.invalidate()

    def list_again(self, node_uuid: str) -> None:
        """List a node's tree at the next ``observe``, not only check it."""
        self._observer.list_again(node_uuid)

    def watch_sharing(self, uuids: Iterable[str]) -> None:
        """Ask for these sharing providers at every ``observe`` from now on."""
        self._observer.watch_sharing(uuids)

    def forget_except(self, node_uuids: Collection[str]) -> None:
        """Drop everything kept in memory about other nodes.

        Call it while nothing is observed or applied. Without these calls, the
        memory grows with each node that ever was. The state database keeps
        its records.
        """
        self._observer.forget_except(node_uuids)

    def allocations(self, seen: Observation) -> alloc.Allocations:
        """Return all allocations of a node's own tree, for its driver to edit.

        ``GET /resource_providers/{uuid}/allocations`` for each provider and
        ``GET /allocations/{consumer}`` (1.28) for each consumer.

        :raises errors.Replan: placement changed since ``seen``
        """
        return self._verifier.allocations(seen)

    def read(self, needs: Needs) -> Known:
        """Return the facts that a decision about a node lacks.

        ``GET /resource_providers/{uuid}/allocations`` for each provider whose
        consumers it needs; ``GET /traits`` (1.6) and ``GET /resource_classes``
        (1.2) for the names, unless they are remembered; ``GET
        /resource_providers?member_of=in:`` (1.3) for the members of a pool's
        aggregates; and ``?name=`` for a new root, unless the last list tells
        that its name is free.

        :raises errors.Replan: placement changed since the node was observed
        :raises errors.Refused: a new root's name belongs to another provider
        """
        consumers = self._verifier.consumers(needs.consumers)
        names = self._observer.names.known() if needs.names else None
        for uuid, name in needs.roots.items():
            self._observer.check_new_root(needs.node_uuid, uuid, name)
        return Known(
            consumers=consumers,
            names=names,
            outsiders={
                pool: self._observer.members(aggregates)
                for pool, aggregates in needs.pools.items()
            },
            roots=frozenset(needs.roots),
        )

    def verify(self, plan: Plan) -> None:
        """Read again every part that a plan would write, without writing it.

        ``apply`` reads each part just before its write; this is for a plan
        that is only shown.

        :raises errors.Replan: placement changed since the plan's observation
        """
        parts = {part for op in plan.operations for part in op.parts}
        for uuid, kind in sorted(parts - plan.fresh):
            if uuid in plan.before:
                self._verifier.verify(plan.before[uuid], kind)

    def apply(self, plan: Plan, without: Collection[Hashable] = ()) -> Outcome:
        """Send a plan's operations; return the outcome.

        Each part of a provider is read again just before it is written, unless
        it was read in this cycle.

        :param without: operations that were refused before; they are not
            sent, and neither is an operation that depends on one of them
        If another writer changed a provider in between, the outcome has the
        conflict, and all operations that do not depend on it are done: observe
        again. If an error ended the apply early, the outcome has it; the
        operations carried out are recorded, and the next cycle continues from
        there.
        """
        self._observer.list_again(plan.node_uuid)
        return self._executor.apply(plan, without)
