# SPDX-License-Identifier: Apache-2.0
"""The values that the agent and its report client exchange.

Pure: no I/O, configuration, logging or clock. The agent decides which
providers a node should have (``Wanted``); the report client returns the
operations that lead there (``Plan``) and, after sending them, their
``Outcome``.
"""

import dataclasses
from collections.abc import Mapping

from .. import errors
from ..tree import provider
from ..tree.assertion import Claims, Key, Named
from ..tree.set_aside import SetAside
from . import removal
from .allocations import Move
from .operations.operations import Operation

NOTHING_SET_ASIDE: Mapping[str, SetAside] = {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The providers that a node should have, and the data of the change.

    :ivar after: the providers, parents first
    :ivar claims: the claims to record with the plan: for each provider and
        kind, which source claims which names
    :ivar foreign: the names that are removed although another writer added
        them
    :ivar causes: why names and providers are removed
    :ivar moves: the allocations that move with their inventory
    :ivar counted_as: a resource class → the class as which its amounts count
        in these moves
    :ivar restored: the names that another writer took away or changed, and
        that are restored
    :ivar notes: lines for the operator: what will not be done, and why
    :ivar faults: lines that say why the node is not done after this plan
    :ivar set_aside: the providers that a driver set aside, by uuid
    """

    after: provider.Snapshot
    claims: Mapping[Key, Claims] = dataclasses.field(default_factory=dict)
    foreign: Mapping[Key, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    causes: removal.Causes = removal.NO_CAUSES
    moves: tuple[Move, ...] = ()
    counted_as: Mapping[str, str] = dataclasses.field(default_factory=dict)
    restored: frozenset[Named] = frozenset()
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    set_aside: Mapping[str, SetAside] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The operations for one node, in order.

    :ivar before: the providers that the plan starts from
    :ivar claims: the claims to record with it, as in ``Wanted``
    :ivar fresh: the parts of these providers that were read in this cycle; all
        others are read again before they are written
    :ivar restored: as in ``Wanted``
    :ivar notes: lines for the operator: what will not be done, and why
    :ivar faults: lines that say why the node is not done after this plan
    :ivar set_aside: the providers that a driver set aside, by uuid
    """

    node_uuid: str
    operations: tuple[Operation, ...]
    before: provider.Snapshot
    claims: Mapping[Key, Claims] = dataclasses.field(default_factory=dict)
    fresh: frozenset[Key] = frozenset()
    restored: frozenset[Named] = frozenset()
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    set_aside: Mapping[str, SetAside] = dataclasses.field(default_factory=dict)

    def says_anything(self) -> bool:
        """Return True if the plan has operations or lines to print."""
        return bool(self.operations or self.notes or self.faults)

    def is_empty(self) -> bool:
        """Return True if there is nothing to send, to record or to report.

        A plan that only has notes is empty.
        """
        return not (self.operations or self.claims or self.faults)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A part of placement that is not as the plan expects it.

    :ivar error: the error with which the write, or the read before it, ended
    :ivar subject: the provider or the name, as ``name (uuid)``
    :ivar is_at_home: True if the provider is in the node's own tree, so that
        the next observation of that tree shows the change
    """

    error: errors.Replan
    subject: str
    is_at_home: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of sending a plan.

    :ivar applied: the operations that placement carried out
    :ivar refused: the operations that were refused, or were not sent because
        of that, by the line that reports each
    :ivar conflicts: the conflicts that operations met; operations that depend
        on no such operation were carried out or refused
    :ivar ended_by: the error after which nothing more was sent; None if the
        plan was sent to its end
    """

    applied: tuple[Operation, ...] = ()
    refused: Mapping[str, Operation] = dataclasses.field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    ended_by: errors.AgentError | None = None
