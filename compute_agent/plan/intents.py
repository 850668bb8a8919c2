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

from ..tree import assertion, provider


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
    intents: Sequence[Intent], seen: provider.Provider | None
) -> Outcome:
    """Return which of a provider's open writes took place, by a fresh read.

    If several nodes wrote to the provider in parallel, each has a chain of
    intents of its own, made without knowledge of the others.

    :param seen: the provider as read now, None if it is not in placement
    """
    nodes = dict.fromkeys(intent.node_uuid for intent in intents)
    outcomes = [
        _reconcile_chain([i for i in intents if i.node_uuid == node], seen)
        for node in nodes
    ]
    return Outcome(
        done=tuple(i for outcome in outcomes for i in outcome.done),
        dropped=tuple(i for outcome in outcomes for i in outcome.dropped),
        notes=tuple(note for outcome in outcomes for note in outcome.notes),
    )


def _reconcile_chain(
    intents: Sequence[Intent], seen: provider.Provider | None
) -> Outcome:
    """Return which of one node's writes to a provider took place.

    They were sent in this order, and each raises the generation by one. So if
    the provider's generation is that of an intent, all writes up to this
    intent are done and no other writer wrote. The provider must also show, for
    each kind, the set that was sent last. If others wrote in between, the
    names that are there count as theirs.
    """
    if seen is None:
        return Outcome(dropped=tuple(intents))
    sent = [i for i in intents if i.generation <= (seen.generation or 0)]
    sent = _without_failed(seen, sent)
    exact = any(i.generation == seen.generation for i in sent)
    last = {i.kind: i for i in sent}
    if exact and all(_shows(seen, i) for i in last.values()):
        later = [i for i in intents if i not in sent]
        return Outcome(done=tuple(sent), dropped=tuple(later))
    present = {
        n for i in intents if i.kind for n in i.added & seen.names_of(i.kind)
    }
    if any(i.kind is None for i in intents):
        present.add('the provider itself')
    if not present:
        return Outcome(dropped=tuple(intents))
    return Outcome(
        dropped=tuple(intents), notes=(_unclear_line(seen, present),)
    )


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


def _unclear_line(seen: provider.Provider, present: set[str]) -> str:
    return (
        f'{seen}: a write was interrupted and others wrote since, so the '
        f'agent cannot tell whether it added {", ".join(sorted(present))}; '
        'they count as added by others and stay'
    )


def _shows(seen: provider.Provider, intent: Intent) -> bool:
    return intent.kind is None or seen.names_of(intent.kind) == intent.names
