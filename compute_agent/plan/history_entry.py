# SPDX-License-Identifier: Apache-2.0
"""An entry of the history: one event of a provider or of the agent.

Pure: no I/O, configuration, logging or clock. The report client makes entries
of the operations that it sent, ``state/`` those of other writers' changes, and
the commands those of the daemon. ``state/history/`` keeps them.
"""

import dataclasses
import enum
from collections.abc import Iterator, Mapping, Sequence

from ..tree import assertion, provider
from .change import Change
from .intents import Intent

#: The actor of every change that neither this agent nor its commands made.
OTHERS = 'another writer'


#: Characters of an entry's text that the history keeps.
LONGEST_TEXT = 500


class What(enum.StrEnum):
    """The kinds of events; the value is the word for people."""

    CREATED = 'provider created'
    MOVED = 'provider renamed or moved'
    DELETED = 'provider deleted'
    ADOPTED = 'provider adopted'
    TRAITS = 'traits'
    AGGREGATES = 'aggregates'
    INVENTORIES = 'inventories'
    NEW_TRAIT = 'trait created'
    DROPPED_TRAIT = 'trait deleted'
    NEW_CLASS = 'resource class created'
    DROPPED_CLASS = 'resource class deleted'
    ALLOCATED = 'allocations set'
    FREED = 'allocations deleted'
    STAGED = 'node staged'
    UNSTAGED = 'node unstaged'
    APPROVED = 'changes approved'
    FIRST_WRITE = 'first write allowed'
    RESTORED = 'placement restored'
    IMPORTED = 'record imported'
    EXPORTED = 'record exported'
    OUTAGE = 'outage'
    BACK = 'outage over'
    STARTED = 'daemon started'
    STOPPED = 'daemon stopped'


_LOST = 'the answer was lost; placement shows that it was carried out'

#: What is removed besides the names of a provider, and providers.
_DELETIONS = frozenset({What.DROPPED_TRAIT, What.DROPPED_CLASS, What.FREED})

#: The event when the names of a kind change.
OF_KIND: Mapping[assertion.Kind, What] = {
    assertion.Kind.TRAIT: What.TRAITS,
    assertion.Kind.AGGREGATE: What.AGGREGATES,
    assertion.Kind.INVENTORY: What.INVENTORIES,
}


class Result(enum.StrEnum):
    """The results of requests."""

    DONE = 'done'
    REFUSED = 'refused'
    #: The request was sent, and no answer told its outcome.
    UNCONFIRMED = 'unconfirmed'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One event.

    :ivar node_uuid: the node that the entry is about; empty if it is about
        none
    :ivar uuid: the provider that the entry is about; empty if it is about none
    :ivar provider: the provider's name at that time
    :ivar by: the actor; empty for the process that records the entry
    :ivar changes: the names that were added, changed and removed
    :ivar text: more about it, such as why a request was refused
    :ivar restored: the names that had been removed or changed
    :ivar approved: the removed names that a person approved, with the person;
        the key is empty for the provider itself
    """

    what: What
    node_uuid: str = ''
    uuid: str = ''
    provider: str = ''
    by: str = ''
    changes: tuple[Change, ...] = ()
    result: Result = Result.DONE
    text: str = ''
    restored: frozenset[str] = frozenset()
    approved: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def is_removal(self) -> bool:
        """True if a name, a provider or an allocation is removed."""
        return self.what in _DELETIONS or any(
            change.is_removal for change in self.changes
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KeptEntry:
    """An entry that the history has kept.

    :ivar at: when it happened, in seconds since the epoch
    """

    at: float
    entry: Entry


def of_lost_answers(
    done: Sequence[Intent],
    last: provider.Provider | None,
    seen: provider.Provider,
) -> Iterator[Entry]:
    """Yield the entries about writes whose answers were lost.

    The provider shows that they took place. Without these entries, the history
    would call them another writer's.

    :param last: the provider as it was read before them, if it was
    """
    before = last or provider.Provider(uuid=seen.uuid, name=seen.name)
    for intent in {i.kind: i for i in done}.values():
        changes = tuple(_changes(before, intent, seen))
        if intent.kind is not None and not changes:
            continue
        yield Entry(
            what=What.CREATED if intent.kind is None else OF_KIND[intent.kind],
            node_uuid=intent.node_uuid,
            uuid=seen.uuid,
            provider=seen.name,
            changes=changes,
            text=_LOST,
        )


def _changes(
    before: provider.Provider, intent: Intent, seen: provider.Provider
) -> Iterator[Change]:
    """Yield the names that a write added and removed.

    An intent has no amounts. So a class that stays counts as unchanged:
    another writer may have set its amounts.
    """
    if intent.kind is None:
        return
    old = before.names_of(intent.kind)
    for name in sorted(old ^ intent.names):
        yield Change(
            uuid=seen.uuid,
            kind=intent.kind,
            name=name,
            existed=name in old,
            exists=name in intent.names,
            before=before.inventories.get(name),
            after=seen.inventories.get(name),
        )
