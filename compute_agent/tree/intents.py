# SPDX-License-Identifier: Apache-2.0
"""What was about to be sent, and what became of it when nobody was told.

Pure: no I/O, configuration, logging or clock. An intent is recorded before its
request and confirmed after it; what a crash or a lost answer leaves open is
settled by the next read of the provider.
"""

import collections
import dataclasses
from collections.abc import Sequence

from . import assertion, provider


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A write that is about to be sent, so that a crash can be told apart.

    :ivar node_uuid: the node whose plan it is part of
    :ivar kind: what it replaces, or None for the creation of the provider
    :ivar generation: the provider's generation once it is done
    :ivar names: the whole set that it leaves
    :ivar added: the names in it that were not there
    """

    node_uuid: str
    uuid: str
    kind: assertion.Kind | None
    generation: int
    names: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What became of the unconfirmed intents of one provider."""

    done: tuple[Intent, ...] = ()
    dropped: tuple[Intent, ...] = ()
    notes: tuple[str, ...] = ()


def settle(
    intents: Sequence[Intent], seen: provider.Provider | None
) -> Settlement:
    """Tell which of a provider's unconfirmed writes were done, by a fresh read.

    Of nodes that write to it side by side each has a chain of its own, made
    without knowing of the others'.
    """
    nodes = dict.fromkeys(intent.node_uuid for intent in intents)
    settled = [
        _settled([i for i in intents if i.node_uuid == node], seen)
        for node in nodes
    ]
    return Settlement(
        done=tuple(i for one in settled for i in one.done),
        dropped=tuple(i for one in settled for i in one.dropped),
        notes=tuple(note for one in settled for note in one.notes),
    )


def _settled(
    intents: Sequence[Intent], seen: provider.Provider | None
) -> Settlement:
    """Tell which of one node's writes to a provider were done.

    They were sent in this order, each one raising the generation by one. So if
    the generation is one of theirs, all up to that one are done and nobody
    else wrote; each kind must also show the set that was sent last. Where
    others wrote in between, the names that are there count as theirs.
    """
    if seen is None:
        return Settlement(dropped=tuple(intents))
    sent = [i for i in intents if i.generation <= (seen.generation or 0)]
    sent = _likely(seen, sent)
    exact = any(i.generation == seen.generation for i in sent)
    last = {i.kind: i for i in sent}
    if exact and all(_shows(seen, i) for i in last.values()):
        later = [i for i in intents if i not in sent]
        return Settlement(done=tuple(sent), dropped=tuple(later))
    there = {
        n for i in intents if i.kind for n in i.added & carried(seen, i.kind)
    }
    if any(i.kind is None for i in intents):
        there.add('the provider itself')
    if not there:
        return Settlement(dropped=tuple(intents))
    return Settlement(
        dropped=tuple(intents),
        notes=(_unclear(seen, there),),
    )


def _likely(seen: provider.Provider, sent: Sequence[Intent]) -> list[Intent]:
    """Return these, less what was not done because a later one was.

    After a write that failed, whether it was carried out or not, the next one
    leads to the same generation as if it had not been: only one of them did.
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


def _unclear(seen: provider.Provider, there: set[str]) -> str:
    return (
        f"{seen}: {', '.join(sorted(there))} may be this agent's, left by a "
        'write that was cut off, but others wrote since: they count as '
        "others' and stay"
    )


def carried(one: provider.Provider, kind: assertion.Kind) -> frozenset[str]:
    """Return the names of one kind that the provider has."""
    return {
        assertion.Kind.TRAIT: one.traits,
        assertion.Kind.AGGREGATE: one.aggregates,
        assertion.Kind.INVENTORY: frozenset(one.inventories),
    }[kind]


def _shows(seen: provider.Provider, intent: Intent) -> bool:
    return intent.kind is None or carried(seen, intent.kind) == intent.names
