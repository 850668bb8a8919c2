# SPDX-License-Identifier: Apache-2.0
"""The changes of other writers: the difference of two readings of a provider.

Pure: no I/O, configuration, logging or clock. The difference is less what this
agent and its commands wrote between the two readings: a reading is not kept
after a write whose provider met a conflict, or whose answer was lost.
Placement does not tell who made the rest of the difference.
"""

import dataclasses
from collections.abc import Iterable, Iterator

from ...plan import change
from ...plan.change import Change
from ...plan.history_entry import OF_KIND, OTHERS, Entry, Result, What
from ...tree import assertion, provider


def entries(
    last: provider.Reading, now: provider.Reading, own: Iterable[Entry]
) -> Iterator[Entry]:
    """Yield an entry for each kind that other writers changed.

    :param own: the entries of this agent about the provider since ``last``
    """
    made = list(own)
    before = _after(last.provider, made, now.provider)
    yield from _contents(before, now)
    old, new = last.provider, now.provider
    is_own = any(entry.what is What.MOVED for entry in made)
    if not is_own and (old.name, old.parent_uuid) != (
        new.name,
        new.parent_uuid,
    ):
        yield _entry(now, What.MOVED, text=_move(old, new))


def new_provider(now: provider.Reading) -> Iterator[Entry]:
    """Yield the entries of a provider that another writer created."""
    one = now.provider
    yield _entry(now, What.CREATED, text=f'below {one.parent_uuid}')
    yield from _contents(provider.Provider(uuid=one.uuid, name=one.name), now)


def gone(last: provider.Reading) -> Entry:
    """Return the entry of a provider that another writer deleted."""
    deletion = Change(
        uuid=last.provider.uuid, kind=None, existed=True, exists=False
    )
    return _entry(last, What.DELETED, changes=(deletion,))


def restored(now: provider.Reading) -> Entry:
    """Return the entry of a provider of a placement that was restored."""
    return _entry(
        now,
        What.RESTORED,
        text='the provider is as it was in an earlier backup',
    )


def _contents(
    before: provider.Provider, now: provider.Reading
) -> Iterator[Entry]:
    for kind, what in OF_KIND.items():
        changes = tuple(change.between(before, now.provider, kind))
        if changes:
            yield _entry(now, what, changes=changes)


def _after(
    one: provider.Provider, made: Iterable[Entry], seen: provider.Provider
) -> provider.Provider:
    """Return a provider with the changes that this agent wrote to it.

    :param seen: has the inventories of writes whose answer was lost
    """
    traits, aggregates = set(one.traits), set(one.aggregates)
    inventories = dict(one.inventories)
    for done in _done(made, seen):
        name = done.name
        if done.kind is assertion.Kind.INVENTORY:
            record = done.after or seen.inventories.get(name)
            inventories.pop(name, None)
            if done.exists and record is not None:
                inventories[name] = record
        else:
            is_trait = done.kind is assertion.Kind.TRAIT
            names = traits if is_trait else aggregates
            (names.add if done.exists else names.discard)(name)
    return dataclasses.replace(
        one,
        traits=frozenset(traits),
        aggregates=frozenset(aggregates),
        inventories=inventories,
    )


def _done(
    entries: Iterable[Entry], seen: provider.Provider
) -> Iterator[Change]:
    """Yield the changes of names that were carried out.

    A write without an answer was carried out if the provider shows its
    changes.
    """
    for entry in entries:
        for made in entry.changes:
            if made.kind is not None and (
                entry.result is Result.DONE or made.is_in(seen)
            ):
                yield made


def _move(old: provider.Provider, new: provider.Provider) -> str:
    parts = []
    if old.name != new.name:
        parts.append(f'renamed from {old.name}')
    if old.parent_uuid != new.parent_uuid:
        parts.append(
            f'moved from {old.parent_uuid or "the top"} to below '
            f'{new.parent_uuid or "nothing"}'
        )
    return ', '.join(parts)


def _entry(
    now: provider.Reading,
    what: What,
    *,
    changes: tuple[Change, ...] = (),
    text: str = '',
) -> Entry:
    return Entry(
        what=what,
        node_uuid=now.root_uuid,
        uuid=now.provider.uuid,
        provider=now.provider.name,
        by=OTHERS,
        changes=changes,
        text=text,
    )
