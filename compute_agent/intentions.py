# SPDX-License-Identifier: Apache-2.0
"""What was about to be sent, and what became of it when nobody was told.

Pure: no I/O, configuration, logging or clock. An intent is recorded before its
request and confirmed after it; what a crash or a lost answer leaves open is
settled by the next read of the provider.
"""

import dataclasses
from collections.abc import Sequence

from . import assertion, provider


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A write that is about to be sent, so that a crash can be told apart.

    :ivar kind: what it replaces, or None for the creation of the provider
    :ivar generation: the provider's generation once it is done
    :ivar names: the whole set that it leaves
    :ivar added: the names in it that were not there
    """

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

    They were sent in this order, each one raising the generation by one. So if
    the generation is one of theirs, all up to that one are done and nobody
    else wrote; each kind must also show the set that was sent last. Where
    others wrote in between, the names that are there count as theirs.
    """
    if seen is None:
        return Settlement(dropped=tuple(intents))
    sent = [i for i in intents if i.generation <= (seen.generation or 0)]
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
