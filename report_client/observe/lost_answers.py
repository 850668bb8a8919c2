# SPDX-License-Identifier: Apache-2.0
"""The entries of the history about writes whose answers were lost.

Pure: no I/O, configuration, logging or clock. A reading shows that the write
took place. Without these entries, the history would call it another writer's.
"""

from collections.abc import Iterator, Sequence

from compute_agent.plan import change
from compute_agent.plan.history_entry import OF_KIND, Entry, What
from compute_agent.plan.intents import Intent
from compute_agent.tree import provider

_TEXT = 'the answer was lost; placement shows that it was carried out'


def entries(
    done: Sequence[Intent],
    last: provider.Provider | None,
    seen: provider.Provider,
) -> Iterator[Entry]:
    """Yield the entries about the writes that a provider shows.

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
            text=_TEXT,
        )


def _changes(
    before: provider.Provider, intent: Intent, seen: provider.Provider
) -> Iterator[change.Change]:
    """Yield the names that a write added and removed.

    An intent has no amounts, so a class that stays is no change: its amounts
    may be another writer's.
    """
    if intent.kind is None:
        return
    old = before.names_of(intent.kind)
    for name in sorted(old ^ intent.names):
        yield change.Change(
            uuid=seen.uuid,
            kind=intent.kind,
            name=name,
            existed=name in old,
            exists=name in intent.names,
            before=before.inventories.get(name),
            after=seen.inventories.get(name),
        )
