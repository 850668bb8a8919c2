# SPDX-License-Identifier: Apache-2.0
"""Creating, renaming, moving and deleting providers in a draft."""

import typing

from .contents import Claims, Contents, Refused

DUPLICATE = 'placement.duplicate_name'
IN_USE = 'placement.resource_provider.inuse'
IS_PARENT = 'placement.resource_provider.cannot_delete_parent'


def create(draft: Contents, body: dict[str, typing.Any]) -> Claims:
    """Add a provider."""
    uuid, name = body['uuid'], body['name']
    parent = body.get('parent_provider_uuid')
    if parent == uuid:
        raise Refused(400, 'parent provider UUID cannot be same as UUID')
    _check_parent(draft, parent)
    if uuid in draft.providers:
        raise Refused(409, f'uuid: {uuid} already exists.', DUPLICATE)
    _check_name(draft, uuid, name)
    made = Claims(uuid=uuid, name=name, parent=parent, generation=0)
    draft.providers[uuid] = made
    return made


def update(draft: Contents, uuid: str, body: dict[str, typing.Any]) -> Claims:
    """Rename a provider, or move it; its generation stays."""
    old = draft.provider(uuid)
    parent = body.get('parent_provider_uuid', old.parent)
    _check_parent(draft, parent)
    above = parent
    while above is not None:
        if above == uuid:
            raise Refused(400, 'creating loop in the provider tree')
        above = draft.providers[above].parent
    _check_name(draft, uuid, body['name'])
    return draft.change(uuid, name=body['name'], parent=parent)


def delete(draft: Contents, uuid: str) -> None:
    """Remove a provider without children or allocations."""
    old = draft.provider(uuid)
    if any(held.parent == uuid for held in draft.providers.values()):
        raise Refused(409, f'{uuid} has child providers.', IS_PARENT)
    if old.allocations:
        raise Refused(409, f'{uuid} has allocations.', IN_USE)
    del draft.providers[uuid]


def _check_parent(draft: Contents, parent: str | None) -> None:
    if parent is not None and parent not in draft.providers:
        raise Refused(400, 'parent provider UUID does not exist.')


def _check_name(draft: Contents, uuid: str, name: str) -> None:
    for held in draft.providers.values():
        if held.name == name and held.uuid != uuid:
            raise Refused(409, f'provider {name} already exists.', DUPLICATE)
