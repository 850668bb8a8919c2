# SPDX-License-Identifier: Apache-2.0
"""The operations that turn one hierarchy of providers into another.

Pure: no I/O, configuration, logging or clock. In placement every name is
unique and every parent exists; it refuses a cycle and the deletion of a
parent. So the order is: a provider whose name another provider needs is
deleted first, or gets a temporary name if it cannot be deleted yet; then come
renames, then creations and moves from the top down, and the other deletions
last.
"""

from collections.abc import Container, Mapping

from ...tree import provider, working_copy
from .. import removal
from ..operations import operations as ops

Changes = tuple[list[ops.ProviderOperation], list[ops.ProviderOperation]]
NO_CAUSES: Mapping[str, removal.Cause] = {}
_ASIDE = 'moving-'


def changes(
    before: provider.Snapshot,
    after: provider.Snapshot,
    occupied: Container[str] = (),
    causes: Mapping[str, removal.Cause] = NO_CAUSES,
) -> Changes:
    """Return the operations to send before contents are set, and after.

    :param occupied: providers that cannot be deleted before contents are set
    :param causes: why providers are deleted, by uuid
    """
    return _Hierarchy(before, after, occupied, causes).changes()


class _Hierarchy:
    """The hierarchy as it is after the operations found so far."""

    def __init__(
        self,
        before: provider.Snapshot,
        after: provider.Snapshot,
        occupied: Container[str],
        causes: Mapping[str, removal.Cause],
    ) -> None:
        wanted = [p.name for p in after.values()]
        if len(set(wanted)) < len(wanted):
            raise ops.Impossible('two providers should have the same name')
        self._after = after
        self._occupied = occupied
        self._causes = causes
        self._now = working_copy.WorkingCopy(before)
        self._found: list[ops.ProviderOperation] = []

    def changes(self) -> Changes:
        self._free_names_of_the_removed()
        self._rename()
        self._create_and_move()
        rebuilding, self._found = self._found, []
        for uuid in reversed(self._removed()):
            self._delete(uuid)
        return rebuilding, self._found

    def _removed(self) -> list[str]:
        return [u for u in self._now if u not in self._after]

    def _needed(self) -> set[str]:
        """Return the names that a creation or a rename will take."""
        return {
            p.name
            for u, p in self._after.items()
            if u not in self._now or self._now[u].name != p.name
        }

    def _free_names_of_the_removed(self) -> None:
        needed = self._needed()
        for uuid in reversed(self._removed()):
            if self._now[uuid].name not in needed:
                continue
            below = self._now.descendants(uuid)
            if any(u in self._after or u in self._occupied for u in below):
                self._update(uuid, name=_ASIDE + uuid)
                continue
            for descendant in reversed(below):
                self._delete(descendant)

    def _rename(self) -> None:
        waiting = [
            u
            for u, p in self._after.items()
            if u in self._now and self._now[u].name != p.name
        ]
        while waiting:
            taken = {p.name for p in self._now.values()}
            free = [u for u in waiting if self._after[u].name not in taken]
            if not free:  # a cycle of names: one gets a temporary name
                self._update(waiting[0], name=_ASIDE + waiting[0])
                continue
            for uuid in free:
                self._update(uuid, name=self._after[uuid].name)
            done = set(free)
            waiting = [u for u in waiting if u not in done]

    def _create_and_move(self) -> None:
        """Work from the top down, so that no move can close a cycle."""
        for uuid, wanted in self._after.items():
            if uuid not in self._now:
                self._create(wanted)
            elif self._now[uuid].parent_uuid != wanted.parent_uuid:
                self._update(uuid, parent_uuid=wanted.parent_uuid)

    def _create(self, wanted: provider.Provider) -> None:
        """Add a provider below one that is there; its name is free by now."""
        uuid, name, parent = wanted.uuid, wanted.name, wanted.parent_uuid
        if parent is not None and parent not in self._now:
            raise ops.Impossible(f'the parent {parent} does not exist')
        self._found.append(
            ops.CreateProvider(uuid=uuid, name=name, parent_uuid=parent)
        )
        self._now.put(
            provider.Provider(uuid=uuid, name=name, parent_uuid=parent)
        )

    def _update(self, uuid: str, **new: str | None) -> None:
        old = self._now[uuid]
        self._do(
            ops.UpdateProvider(
                uuid=uuid,
                name=new.get('name') or old.name,
                parent_uuid=new.get('parent_uuid', old.parent_uuid),
                old_name=old.name,
                old_parent_uuid=old.parent_uuid,
            )
        )

    def _delete(self, uuid: str) -> None:
        self._do(
            ops.DeleteProvider(
                uuid=uuid,
                name=self._now[uuid].name,
                cause=self._causes.get(uuid),
            )
        )

    def _do(self, operation: ops.ProviderOperation) -> None:
        self._found.append(operation)
        operation.apply_to(self._now)  # in place
