# SPDX-License-Identifier: Apache-2.0
"""Make a provider's children exactly those that a driver wants.

Pure: no I/O, configuration, logging or clock. ``ProviderTree`` has it as
``reconcile_children``. A child goes only if this agent created it and no other
driver reports it, so that the children of other services stay without a word.
"""

from collections.abc import Callable, Mapping
from typing import TypedDict

from .. import error_text, errors
from . import hierarchy, names
from .hierarchy import Given
from .set_aside import TreeSetAside


class Child(TypedDict, total=False):
    """One child as a driver wants it.

    Each key may be missing: the driver then says nothing of that kind, and the
    names stay. None says that the driver cannot tell this time.
    """

    uuid: str
    inventory: Given | None
    traits: names.Names | None
    aggregates: names.Names | None


_KEYS = frozenset(Child.__optional_keys__)


def reconcile(
    tree: TreeSetAside,
    parent: str,
    wanted: Mapping[str, Child],
    new_child: Callable[[str, str, str | None], str],
    remove: Callable[[str], None],
) -> dict[str, str]:
    """Create, describe and remove children; return name → uuid.

    :param new_child: creates one of this name below this parent; returns its
        uuid
    :param remove: removes a provider and all below it
    """
    above = tree.data(parent)
    _check(tree, above.uuid, wanted)
    gone = [
        uuid
        for uuid in tree.get_provider_uuids(above.uuid)
        if (one := tree.data(uuid)).parent_uuid == above.uuid
        and one.name not in wanted
        and tree.is_created_here(uuid)
        and not tree.is_of_others(uuid)
    ]
    for uuid in gone:
        remove(uuid)
    uuids = {}
    for name, child in wanted.items():
        uuids[name] = (
            tree.data(name).uuid
            if tree.exists(name)
            else new_child(name, above.uuid, child.get('uuid'))
        )
        _claim(tree, uuids[name], child)
    return uuids


def _claim(tree: TreeSetAside, uuid: str, child: Child) -> None:
    """Claim what the driver says of a child."""
    if (inventory := child.get('inventory')) is not None:
        tree.declare_inventory(uuid, inventory)
    elif 'inventory' in child:
        tree.keep_inventory(uuid)
    if (traits := child.get('traits')) is not None:
        tree.declare_traits(uuid, *traits)
    elif 'traits' in child:
        tree.keep_traits(uuid)
    if (aggregates := child.get('aggregates')) is not None:
        tree.declare_aggregates(uuid, *aggregates)
    elif 'aggregates' in child:
        tree.keep_aggregates(uuid)


def _check(
    tree: TreeSetAside, parent: str, wanted: Mapping[str, Child]
) -> None:
    """Refuse children that cannot be as the driver says; nothing has changed.

    :raises errors.TreeError: the children are no mapping, or a name belongs to
        another provider
    :raises errors.InvalidName: placement would refuse a name
    """
    if not isinstance(wanted, Mapping):
        raise errors.TreeError(
            f'{error_text.excerpt(wanted)} are no children: give name → '
            "child, such as {'cn1_gpu0': {'inventory': {...}}}"
        )
    uuids = set[str]()
    for name, child in wanted.items():
        names.check_provider_name(name)
        if not isinstance(child, Mapping) or not child.keys() <= _KEYS:
            raise errors.TreeError(
                f'{name}: {error_text.excerpt(child)} is no child: give a '
                f'mapping with {", ".join(sorted(_KEYS))}, each if you know it'
            )
        _check_contents(tree, name, child)
        uuid = child.get('uuid')
        _check_place(tree, parent, name, uuid and uuid.lower())
        if uuid is not None and uuid in uuids:
            raise errors.TreeError(
                f'{name}: its uuid is that of another child: give each its own'
            )
        uuids.update([uuid] if uuid else [])


def _check_contents(tree: TreeSetAside, name: str, child: Child) -> None:
    """Refuse arguments that the tree's methods would refuse later."""
    try:
        if (uuid := child.get('uuid')) is not None:
            names.check_uuid(uuid, 'provider')
        if (traits := child.get('traits')) is not None:
            names.check_traits(traits)
        if (aggregates := child.get('aggregates')) is not None:
            names.check_aggregates(aggregates)
        if (records := child.get('inventory')) is not None:
            now = tree.data(name).inventory if tree.exists(name) else {}
            hierarchy.check_records(records, now)
    except (errors.InvalidName, errors.TreeError) as exc:
        raise type(exc)(f'{name}: {exc}') from exc


def _check_place(
    tree: TreeSetAside, parent: str, name: str, uuid: str | None
) -> None:
    """Refuse a name or a uuid that the tree has elsewhere."""
    if not tree.exists(name):
        return
    found = tree.data(name)
    if found.parent_uuid != parent:
        raise errors.TreeError(
            f'{name} exists elsewhere in the tree, below '
            f'{found.parent_uuid or "no provider"}: remove it there first, or '
            'choose another name'
        )
    if uuid is not None and found.uuid != uuid:
        raise errors.TreeError(
            f'{name} has the uuid {found.uuid}, not {uuid}: leave the uuid '
            'out, or choose another name'
        )
