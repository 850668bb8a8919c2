# SPDX-License-Identifier: Apache-2.0
"""Allocating, releasing and reshaping in a draft.

A consumer's allocations are replaced as a whole. The generation of a provider
rises when something is allocated from it, not when that is released.
"""

import collections
import dataclasses
import typing

from . import parts
from .contents import CONCURRENT, Consumer, Contents, Fields, Refused, Unlike

Body = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Amount:
    """What a consumer is to have; 0 for what it had and gives up."""

    consumer: str
    uuid: str
    rc: str
    used: int


def set_one(draft: Contents, consumer: str, body: Body) -> None:
    """Replace what one consumer has."""
    if not body['allocations']:
        raise Unlike('nobody releases by a PUT')
    fresh = _ensure(draft, consumer, body)
    amounts = _amounts(draft, {consumer: body})
    _describe(draft, consumer, body)
    try:
        _replace(draft, amounts)
    except Refused:
        for each in fresh:
            del draft.consumers[each]
        raise


def release(draft: Contents, consumer: str) -> None:
    """Take all from a consumer; no generation rises."""
    if not any(amounts_of(draft, consumer)):
        raise Refused(404, f'No allocations for consumer {consumer}')
    _take_all(draft, {consumer})
    del draft.consumers[consumer]


def reshape(draft: Contents, body: Body) -> None:
    """Replace inventories, and what consumers have, at once."""
    inventories = {
        uuid: _wanted(draft, uuid, part)
        for uuid, part in body['inventories'].items()
    }
    for consumer, part in body['allocations'].items():
        _ensure(draft, consumer, part)
    amounts = _amounts(draft, body['allocations'])
    for consumer, part in body['allocations'].items():
        _describe(draft, consumer, part)
    for uuid, records in inventories.items():
        if records:
            both = {**draft.providers[uuid].inventories, **records}
            parts.replace_inventories(draft, uuid, both)
    _replace(draft, amounts)
    for uuid, records in inventories.items():
        parts.replace_inventories(draft, uuid, records)


def amounts_of(
    draft: Contents, consumer: str
) -> collections.abc.Iterator[Amount]:
    """Yield what a consumer has."""
    for uuid, held in draft.providers.items():
        for (who, rc), used in held.allocations.items():
            if who == consumer:
                yield Amount(consumer, uuid, rc, used)


def _wanted(draft: Contents, uuid: str, part: Body) -> dict[str, Fields]:
    held = draft.providers.get(uuid)
    if held is None:
        code = 'placement.resource_provider.not_found'
        raise Refused(400, f'{uuid} in inventories not found', code)
    parts.check_generation(held, part)
    records = parts.fields_of(part['inventories'])
    if any(one.capacity < 0 for one in records.values()):
        raise Unlike('nobody reshapes to less than nothing')
    return records


def _ensure(draft: Contents, consumer: str, part: Body) -> set[str]:
    """Make a consumer that is new; return those that were made."""
    known = draft.consumers.get(consumer)
    given = part['consumer_generation']
    if given != (None if known is None else known.generation):
        raise Refused(409, 'consumer generation conflict', CONCURRENT)
    if known is not None:
        return set()
    draft.consumers[consumer] = Consumer(
        part['project_id'], part['user_id'], part.get('consumer_type')
    )
    return {consumer}


def _describe(draft: Contents, consumer: str, part: Body) -> None:
    old = draft.consumers[consumer]
    draft.consumers[consumer] = Consumer(
        part['project_id'],
        part['user_id'],
        part.get('consumer_type') or old.kind,
        old.generation,
    )


def _amounts(draft: Contents, wanted: Body) -> list[Amount]:
    """Return what all are to have.

    :raises Refused: of a provider that is not there; consumers that were made
        for it stay, as a fault of placement
    """
    found = []
    for consumer, part in wanted.items():
        for uuid, some in part['allocations'].items():
            if uuid not in draft.providers:
                detail = f"resource provider '{uuid}' that does not exist."
                raise Refused(400, detail, keeps=True)
            for rc, used in some['resources'].items():
                found.append(Amount(consumer, uuid, rc, used))
        if not part['allocations']:
            found += [
                dataclasses.replace(had, used=0)
                for had in amounts_of(draft, consumer)
            ]
    return found


def _replace(draft: Contents, amounts: list[Amount]) -> None:
    """Give these amounts to their consumers, and nothing else."""
    before = _usage(draft)
    consumers = {each.consumer for each in amounts}
    _take_all(draft, consumers)
    _check(draft, amounts, before)
    for each in amounts:
        if each.used:
            held = draft.providers[each.uuid].allocations
            key = each.consumer, each.rc
            draft.change(each.uuid, allocations={**held, key: each.used})
    for uuid in {each.uuid for each in amounts}:
        generation = draft.providers[uuid].generation
        draft.change(uuid, generation=generation + 1)
    for consumer in consumers:
        old = draft.consumers[consumer]
        draft.consumers[consumer] = dataclasses.replace(
            old, generation=old.generation + 1
        )
    for consumer in consumers - {e.consumer for e in amounts if e.used}:
        del draft.consumers[consumer]


def _take_all(draft: Contents, consumers: set[str]) -> None:
    for uuid, held in draft.providers.items():
        left = {
            key: used
            for key, used in held.allocations.items()
            if key[0] not in consumers
        }
        if len(left) != len(held.allocations):
            draft.change(uuid, allocations=left)


def _usage(draft: Contents) -> collections.Counter[tuple[str, str]]:
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for uuid, held in draft.providers.items():
        for (_, rc), used in held.allocations.items():
            found[uuid, rc] += used
    return found


def _check(
    draft: Contents,
    amounts: list[Amount],
    before: collections.Counter[tuple[str, str]],
) -> None:
    """Refuse amounts that do not fit, unless it was worse before."""
    classes = {each.rc for each in amounts}
    if unknown := classes - parts.CLASSES - draft.classes:
        raise Refused(400, f'No such resource class {min(unknown)}.')
    for uuid in {each.uuid for each in amounts}:
        if not classes & draft.providers[uuid].inventories.keys():
            raise Refused(409, f'Inventory on {uuid} invalid.')
    usage = _usage(draft)
    asked: collections.Counter[tuple[str, str]] = collections.Counter()
    for each in amounts:
        key = each.uuid, each.rc
        asked[key] += each.used
        if each.used:
            one = draft.providers[each.uuid].inventories.get(each.rc)
            if one is None or not _is_measured(one, each.used):
                raise Refused(409, f'{each.rc} on {each.uuid} invalid.')
            total = usage[key] + asked[key]
            worse = key not in before or total > before[key]
            if one.capacity < total and worse:
                raise Refused(409, f'{each.rc} on {each.uuid} exceeded.')


def _is_measured(one: Fields, used: int) -> bool:
    """Whether an amount is within the steps and bounds of a record."""
    within = one.min_unit <= used <= one.max_unit
    return within and used % one.step_size == 0
