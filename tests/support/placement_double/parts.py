# SPDX-License-Identifier: Apache-2.0
"""Replacing a provider's traits, aggregates or inventories in a draft."""

import collections.abc
import typing

import os_resource_classes
import os_traits

from .contents import CONCURRENT, Claims, Contents, Fields, Refused

IN_USE = 'placement.inventory.inuse'
TRAITS = frozenset(os_traits.get_traits())
CLASSES = frozenset(os_resource_classes.STANDARDS)
Records = collections.abc.Mapping[str, dict[str, typing.Any]]


def check_generation(held: Claims, body: dict[str, typing.Any]) -> None:
    """Refuse a write that rests on an older reading."""
    if body['resource_provider_generation'] != held.generation:
        detail = 'resource provider generation conflict'
        raise Refused(409, detail, CONCURRENT)


def set_traits(
    draft: Contents, uuid: str, body: dict[str, typing.Any]
) -> Claims:
    """Replace the traits; the same ones raise no generation."""
    held = draft.provider(uuid)
    check_generation(held, body)
    new = set(body['traits'])
    unknown = new - TRAITS - draft.traits
    if unknown:
        raise Refused(400, f'No such trait {", ".join(sorted(unknown))}')
    if new == held.traits:
        return held
    return draft.change(uuid, traits=new, generation=held.generation + 1)


def set_aggregates(
    draft: Contents, uuid: str, body: dict[str, typing.Any]
) -> Claims:
    """Replace the aggregates."""
    held = draft.provider(uuid)
    check_generation(held, body)
    return draft.change(
        uuid,
        aggregates=set(body['aggregates']),
        generation=held.generation + 1,
    )


def set_inventories(
    draft: Contents, uuid: str, body: dict[str, typing.Any]
) -> Claims:
    """Replace the inventories, none of which may offer less than nothing."""
    held = draft.provider(uuid)
    check_generation(held, body)
    records = fields_of(body['inventories'])
    for rc, one in records.items():
        if int(one.capacity) < 0:
            raise Refused(400, f'Invalid inventory for {rc}')
    return replace_inventories(draft, uuid, records)


def fields_of(records: Records) -> dict[str, Fields]:
    """Return records with placement's defaults."""
    return {rc: Fields(**record) for rc, record in records.items()}


def replace_inventories(
    draft: Contents, uuid: str, records: dict[str, Fields]
) -> Claims:
    """Replace the inventories, of which none in use may go."""
    held = draft.providers[uuid]
    unknown = records.keys() - CLASSES - draft.classes
    if unknown:
        raise Refused(400, f'No such resource class {min(unknown)}.')
    gone = held.inventories.keys() - records.keys()
    if gone & {rc for _, rc in held.allocations}:
        raise Refused(409, f'Inventory of {uuid} in use.', IN_USE)
    return draft.change(
        uuid, inventories=records, generation=held.generation + 1
    )
