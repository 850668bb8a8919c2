# SPDX-License-Identifier: Apache-2.0
"""Intents: writes that are recorded before they are sent.

Pure: no I/O, configuration, logging or clock. An intent is recorded before its
request and confirmed after it. After a crash or a lost answer an intent stays
unconfirmed, and the next read of the provider tells whether the write took
place.
"""

import collections
import dataclasses
from collections.abc import Sequence

from ..fleet.values import mark
from ..tree import assertion, provider
from ..tree.assertion import Kind


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A write to a provider that is about to be sent.

    :ivar node_uuid: the node whose plan contains the write
    :ivar kind: the kind of names it replaces, or None for the creation of the
        provider
    :ivar generation: the provider's generation after the write
    :ivar names: the complete set of names after the write
    :ivar added: the names in it that the provider did not have
    """

    node_uuid: str
    uuid: str
    kind: assertion.Kind | None
    generation: int
    names: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The unconfirmed intents of one provider, sorted by what became of them.

    :ivar done: writes that took place
    :ivar dropped: writes that did not take place, or that look like another
        writer's
    :ivar notes: lines for the operator about the dropped writes
    """

    done: tuple[Intent, ...] = ()
    dropped: tuple[Intent, ...] = ()
    notes: tuple[str, ...] = ()


def reconcile(
    intents: Sequence[Intent],
    seen: provider.Provider | None,
    *,
    in_own_tree: bool = False,
) -> Outcome:
    """Return which of a provider's open writes took place, by a fresh read.

    If several nodes wrote to the provider in parallel, each has a chain of
    intents of its own, made without knowledge of the others.

    :param seen: the provider as read now, None if it is not in placement
    :param in_own_tree: the provider is below the root of the node's own tree
    """
    nodes = dict.fromkeys(intent.node_uuid for intent in intents)
    outcomes = [
        _reconcile_chain(
            [i for i in intents if i.node_uuid == node],
            seen,
            in_own_tree=in_own_tree,
        )
        for node in nodes
    ]
    return Outcome(
        done=tuple(i for outcome in outcomes for i in outcome.done),
        dropped=tuple(i for outcome in outcomes for i in outcome.dropped),
        notes=tuple(note for outcome in outcomes for note in outcome.notes),
    )


def _reconcile_chain(
    intents: Sequence[Intent],
    seen: provider.Provider | None,
    *,
    in_own_tree: bool,
) -> Outcome:
    """Return which of one node's writes to a provider took place.

    A creation is known by its uuid in the node's own tree. Elsewhere another
    agent may create the same provider under the same uuid. The executor
    records such a creation before anything else is written to the provider, so
    one that is still an intent counts only while the provider is as a creation
    leaves it, or if it has the mark that this agent meant to add.

    The writes were sent in this order, and each raises the generation by one.
    If the generation is that of an intent, all writes up to this intent are
    done and no other writer wrote. If it is higher, others wrote too, or
    allocations changed; a set that equals the one that was sent still counts
    as sent.
    """
    if seen is None:
        return Outcome(dropped=tuple(intents))
    is_created = any(i.kind is None for i in intents)
    if is_created and not (
        in_own_tree or _is_untouched(seen) or _is_marked(seen, intents)
    ):
        return Outcome(
            dropped=tuple(intents), notes=(_unclear_creation(seen),)
        )
    sent = [i for i in intents if i.generation <= (seen.generation or 0)]
    sent = _without_failed(seen, sent)
    if _explains(sent, seen):
        later = [i for i in intents if i not in sent]
        return Outcome(done=tuple(sent), dropped=tuple(later))
    done = _shown(seen, sent)
    dropped = [i for i in intents if i not in done]
    present = {
        n for i in dropped if i.kind for n in i.added & seen.names_of(i.kind)
    } - {n for i in done for n in i.added}
    notes = (_unclear_names(seen, present),) if present else ()
    return Outcome(done=tuple(done), dropped=tuple(dropped), notes=notes)


def _explains(sent: Sequence[Intent], seen: provider.Provider) -> bool:
    """Return True if the provider is as these writes, and no others, leave it."""
    last = {i.kind: i for i in sent}
    return any(i.generation == seen.generation for i in sent) and all(
        _shows(seen, i) for i in last.values()
    )


def _is_untouched(seen: provider.Provider) -> bool:
    """Return True if nobody wrote to the provider since its creation."""
    contents = seen.traits | seen.aggregates | set(seen.inventories)
    return seen.generation == 0 and not contents


def _is_marked(seen: provider.Provider, intents: Sequence[Intent]) -> bool:
    """Return True if the provider has the mark that one of these writes adds.

    No other agent writes this mark, and this agent marks only what it created.
    """
    added = {n for i in intents if i.kind is Kind.TRAIT for n in i.added}
    return bool(mark.marks(added & seen.traits))


def _shown(seen: provider.Provider, sent: Sequence[Intent]) -> list[Intent]:
    """Return the intents up to the last one of each kind that is shown."""
    shown = {i.kind: n for n, i in enumerate(sent) if _shows(seen, i)}
    return [i for n, i in enumerate(sent) if n <= shown.get(i.kind, -1)]


def _without_failed(
    seen: provider.Provider, sent: Sequence[Intent]
) -> list[Intent]:
    """Return these intents without those that a later intent rules out.

    After a failed write the agent does not know whether it took place, so the
    next intent has the same generation. Only one of the two writes was done:
    if the provider shows one of them, the other is left out.
    """
    times = collections.Counter(i.generation for i in sent)
    shown = {i.generation for i in sent if _shows(seen, i)}
    return [
        i
        for i in sent
        if times[i.generation] == 1
        or i.generation not in shown
        or _shows(seen, i)
    ]


def _unclear_names(seen: provider.Provider, present: set[str]) -> str:
    return (
        f'{seen}: a write was interrupted and others wrote since, so the '
        f'agent cannot tell whether it added {", ".join(sorted(present))}; '
        'they count as added by others and stay'
    )


def _unclear_creation(seen: provider.Provider) -> str:
    return (
        f'{seen}: its creation got no answer and others may have created it, '
        "so it counts as created by another writer; if it is this agent's: "
        f'"compute-agent resource provider adopt {seen.uuid}"'
    )


def _shows(seen: provider.Provider, intent: Intent) -> bool:
    return intent.kind is None or seen.names_of(intent.kind) == intent.names
