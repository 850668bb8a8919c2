# SPDX-License-Identifier: Apache-2.0
"""Make the plan that leads to the providers that a node should have.

``diff.py`` finds the operations. This module gives it the names that placement
knows. It writes nothing to placement and decides nothing about ownership.
``client.py`` makes one ``PlanMaker``; the cycles of several nodes call it from
several threads.
"""

from collections.abc import Iterable

from compute_agent.plan import allocations as alloc
from compute_agent.plan.observation import Observation
from compute_agent.plan.operations import operations
from compute_agent.plan.plan import Plan, Wanted
from compute_agent.tree import provider

from .. import errors as placement_errors
from ..observe import observer
from . import diff as planning
from . import moves as checking


class PlanMaker:
    """Makes plans.

    :param observer: has the names in placement, and watches the providers it
        is given
    """

    def __init__(self, observer: observer.Observer) -> None:
        self._observer = observer

    def plan(self, seen: Observation, wanted: Wanted) -> Plan:
        """Return the operations that make placement hold the wanted providers.

        :raises errors.AgentError: as ``SchedulerReportClient.plan`` has it
        """
        after, create, notes = self._admitted(seen, wanted)
        _check_moves(seen, after, wanted)
        changes = planning.operations(
            seen.providers,
            after,
            wanted.foreign,
            wanted.moves,
            wanted.causes,
        )
        self._check_root_names(changes, seen.node_uuid)
        return Plan(
            node_uuid=seen.node_uuid,
            operations=(*create, *changes),
            before=seen.providers,
            claims=wanted.claims,
            fresh=seen.fresh,
            restored=wanted.restored,
            notes=(*wanted.notes, *notes),
            faults=wanted.faults,
        )

    def _admitted(
        self, seen: Observation, wanted: Wanted
    ) -> tuple[
        provider.Snapshot, tuple[operations.NameOperation, ...], list[str]
    ]:
        """Return the wanted providers with only names that placement accepts.

        Also return the operations that create custom names, and a line for
        each name that is left out. Placement is asked for its names only if a
        name is new to these providers.
        """
        if not planning.adds_names(seen.providers, wanted.after):
            return wanted.after, (), []
        known = self._observer.names.known()
        return planning.admit(seen.providers, wanted.after, known)

    def _check_root_names(
        self,
        changes: Iterable[operations.ProviderOperation],
        node_uuid: str,
    ) -> None:
        """Refuse to create a root under a name that another provider has.

        Placement would refuse it too. This happens if a host was reinstalled
        and has a new uuid.

        :raises placement_errors.Exists: the provider itself exists already
        :raises placement_errors.NameTaken: another provider has the name
        """
        for operation in changes:
            if not isinstance(operation, operations.CreateProvider):
                continue
            if operation.parent_uuid is not None:
                continue
            other = self._observer.uuid_of_name(operation.name)
            if other == operation.uuid:
                self._observer.watch_provider(node_uuid, operation.uuid)
                raise placement_errors.Exists(operation.name, operation.uuid)
            if other is not None:
                raise placement_errors.NameTaken.by(
                    str(other), operation.name, operation.uuid
                )


def _check_moves(
    seen: Observation, after: provider.Snapshot, wanted: Wanted
) -> None:
    """Refuse moves that placement would refuse, before anything is sent.

    :raises errors.DriverError: the driver's moves cannot be carried out
    """
    own = seen.home | set(provider.descendants(after, seen.node_uuid))
    problems = checking.problems(wanted.moves, after, own, wanted.counted_as)
    if problems:
        raise alloc.refusal([*problems, *wanted.faults])
