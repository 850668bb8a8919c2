# SPDX-License-Identifier: Apache-2.0
"""Providers that operations change in place, one after the other.

Pure: no I/O, configuration, logging or clock. A snapshot is a value: to change
one provider, all are copied, and to find a provider's children, all are
searched. That is too much for a plan with thousands of operations. The
functions of this module take a snapshot or a working copy; a working copy is
changed in place and returned.
"""

from collections.abc import Collection, Iterator, Mapping

from . import provider


class WorkingCopy(Mapping[str, provider.Provider]):
    """A snapshot to change, with the children and the holders of each name.

    Its order is that of a snapshot: parents first.
    """

    def __init__(self, providers: provider.Snapshot) -> None:
        self._all = dict(providers)
        self._is_sorted = True
        self._children: dict[str, dict[str, None]] = {}
        self._holders: dict[str, tuple[str, ...]] = {}  # nearly always one
        for member in self._all.values():
            self._note(member)

    def __getitem__(self, uuid: str) -> provider.Provider:
        return self._all[uuid]

    def __iter__(self) -> Iterator[str]:
        if not self._is_sorted:
            self._all = provider.snapshot(self._all.values())
            self._is_sorted = True
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, uuid: object) -> bool:
        return uuid in self._all

    def children(self, uuid: str) -> Collection[str]:
        """Return the providers right below one."""
        return self._children.get(uuid, {}).keys()

    def holders(self, name: str) -> Collection[str]:
        """Return the providers of this name."""
        return self._holders.get(name, ())

    def descendants(self, uuid: str) -> list[str]:
        """Return this provider and all below it, parents first."""
        found = [uuid]
        for member in found:  # it grows meanwhile
            found.extend(self.children(member))
        return found

    def put(self, member: provider.Provider) -> None:
        """Add a provider, or replace the one of its uuid."""
        old = self._all.get(member.uuid)
        if old is not None:
            self._forget(old)
        stays = old is not None and old.parent_uuid == member.parent_uuid
        is_last = old is None and not self.children(member.uuid)
        self._is_sorted = self._is_sorted and (stays or is_last)
        self._all[member.uuid] = member
        self._note(member)

    def remove(self, uuid: str) -> None:
        """Take a provider out, not those below it."""
        self._forget(self._all.pop(uuid))

    def _note(self, member: provider.Provider) -> None:
        self._holders[member.name] = (*self.holders(member.name), member.uuid)
        if member.parent_uuid is not None:
            below = self._children.get(member.parent_uuid)
            if below is None:
                below = self._children[member.parent_uuid] = {}
            below[member.uuid] = None

    def _forget(self, member: provider.Provider) -> None:
        left = tuple(u for u in self._holders[member.name] if u != member.uuid)
        self._holders[member.name] = left
        if member.parent_uuid is not None:
            del self._children[member.parent_uuid][member.uuid]


def replaced(
    providers: provider.Snapshot, member: provider.Provider
) -> provider.Snapshot:
    """Return the providers with this one added, or replaced."""
    if isinstance(providers, WorkingCopy):
        providers.put(member)
        return providers
    changed = {**providers, member.uuid: member}
    old = providers.get(member.uuid)
    if old is not None and old.parent_uuid == member.parent_uuid:
        return changed
    return provider.snapshot(changed.values())


def without(providers: provider.Snapshot, uuid: str) -> provider.Snapshot:
    """Return the providers without this one."""
    if isinstance(providers, WorkingCopy):
        providers.remove(uuid)
        return providers
    return {u: p for u, p in providers.items() if u != uuid}


def children(providers: provider.Snapshot, uuid: str) -> Collection[str]:
    """Return the providers right below one."""
    if isinstance(providers, WorkingCopy):
        return providers.children(uuid)
    return [u for u, p in providers.items() if p.parent_uuid == uuid]


def holders(providers: provider.Snapshot, name: str) -> Collection[str]:
    """Return the providers of this name."""
    if isinstance(providers, WorkingCopy):
        return providers.holders(name)
    return [u for u, p in providers.items() if p.name == name]
