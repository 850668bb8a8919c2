# SPDX-License-Identifier: Apache-2.0
"""Allocations in placement's HTTP and JSON: reads, removal and the reshape.

Pure: no I/O, configuration, logging or clock. Writes are sent at most at
microversion 1.37, which leaves the type of each consumer alone. From 1.38 on
a request must give each consumer's type; for a consumer without a type,
placement reports a word that it does not accept in a request.
"""

import dataclasses
import urllib.parse
from collections.abc import Mapping
from typing import Any

from compute_agent.plan import allocations as alloc
from compute_agent.plan.operations import operations as ops

from . import codec, json_shapes, paths

NO_TYPES: codec.Version = (1, 37)


# Total, reserved and ratio of an inventory.
Capacity = tuple[int, int, float]


def capacities(body: object) -> tuple[int, dict[str, Capacity]]:
    """Return a provider's generation, and the capacity of each class.

    From the answer to ``GET /resource_providers/{uuid}/inventories``. Values
    that placement would refuse today are returned as they are: an old
    placement may have them.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[int, dict[str, Capacity]]:
        answer = json_shapes.mapping(body)
        return json_shapes.generation(answer), {
            json_shapes.string(rc): (
                json_shapes.count(record['total']),
                json_shapes.count(record['reserved']),
                float(record['allocation_ratio']),
            )
            for rc, record in json_shapes.mapping(
                answer['inventories']
            ).items()
        }

    return json_shapes.parse(read, body)


def used(body: object) -> tuple[int, dict[str, dict[str, int]]]:
    """Return a provider's generation, and consumer → class → amount.

    From the answer to ``GET /resource_providers/{uuid}/allocations``.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[int, dict[str, dict[str, int]]]:
        answer = json_shapes.mapping(body)
        return json_shapes.generation(answer), {
            json_shapes.string(uuid): {
                json_shapes.string(rc): json_shapes.count(amount)
                for rc, amount in json_shapes.mapping(
                    part['resources']
                ).items()
            }
            for uuid, part in json_shapes.mapping(
                answer['allocations']
            ).items()
        }

    return json_shapes.parse(read, body)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The allocation of a consumer from one provider.

    :ivar consumer_generation: the consumer's generation (1.28)
    """

    resources: Mapping[str, int]
    consumer_generation: int


def parts(body: object) -> dict[str, Part]:
    """Return consumer → its part, in the answer that ``used`` reads.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> dict[str, Part]:
        answer = json_shapes.mapping(body)
        return {
            json_shapes.string(uuid): Part(
                resources={
                    json_shapes.string(rc): json_shapes.count(amount)
                    for rc, amount in json_shapes.mapping(
                        part['resources']
                    ).items()
                },
                consumer_generation=json_shapes.count(
                    part['consumer_generation']
                ),
            )
            for uuid, part in json_shapes.mapping(
                answer['allocations']
            ).items()
        }

    return json_shapes.parse(read, body)


def consumer(
    uuid: str, body: object
) -> tuple[alloc.Consumer, dict[str, int]] | None:
    """Return a consumer with its providers' generations, or None.

    The answer is that to ``GET /allocations/{consumer}`` (1.28; the type from
    1.38). None means that the consumer has no allocations.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[alloc.Consumer, dict[str, int]] | None:
        answer = json_shapes.mapping(body)
        parts = {
            provider: json_shapes.mapping(part)
            for provider, part in json_shapes.mapping(
                answer['allocations']
            ).items()
        }
        if not parts:
            return None
        return alloc.Consumer(
            uuid=uuid,
            project_id=json_shapes.string(answer['project_id']),
            user_id=json_shapes.string(answer['user_id']),
            generation=json_shapes.count(answer['consumer_generation']),
            consumer_type=json_shapes.string(answer.get('consumer_type', '')),
            allocations={
                provider: {
                    rc: json_shapes.count(amount)
                    for rc, amount in json_shapes.mapping(
                        part['resources']
                    ).items()
                }
                for provider, part in parts.items()
            },
        ), {
            provider: json_shapes.count(part['generation'])
            for provider, part in parts.items()
        }

    return json_shapes.parse(read, body)


def remainder(
    consumer: alloc.Consumer, allocations: alloc.Parts
) -> codec.Request:
    """Return the request that leaves a consumer these allocations (1.28).

    ``PUT /allocations/{consumer}``: 204; 409 if the consumer has another
    generation. A DELETE would not check the generation.
    """
    return codec.Request(
        method='PUT',
        path=paths.consumer(consumer.uuid),
        body=_consumer(alloc.Move(consumer=consumer, allocations=allocations)),
        newest=NO_TYPES,
    )


def replacement(
    wanted: alloc.Consumer, generation: int | None
) -> codec.Request:
    """Return the request that gives a consumer these allocations (1.28).

    With a type it needs 1.38.

    :param generation: that of the consumer; None if it has no allocations yet
    """
    body = _consumer(
        alloc.Move(consumer=wanted, allocations=wanted.allocations)
    )
    body['consumer_generation'] = generation
    if not wanted.consumer_type:
        return codec.Request(
            method='PUT',
            path=paths.consumer(wanted.uuid),
            body=body,
            newest=NO_TYPES,
        )
    body['consumer_type'] = wanted.consumer_type
    return codec.Request(
        method='PUT', path=paths.consumer(wanted.uuid), body=body
    )


def used_by(project: str, user: str | None) -> codec.Request:
    """Return the request for the usage of a project (1.9).

    From 1.38 on the answer has it by the type of the consumers.
    """
    asked = {'project_id': project, **({'user_id': user} if user else {})}
    return codec.Request(
        method='GET',
        path=f'{paths.USAGES}?{urllib.parse.urlencode(asked)}',
        newest=NO_TYPES,
    )


def usages(body: object) -> dict[str, int]:
    """Return resource class → amount in the answer to ``used_by``.

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> dict[str, int]:
        found = json_shapes.mapping(json_shapes.mapping(body)['usages'])
        return {
            json_shapes.string(rc): json_shapes.count(amount)
            for rc, amount in found.items()
        }

    return json_shapes.parse(read, body)


def reshape(
    operation: ops.Reshape, generations: Mapping[str, int]
) -> codec.Request:
    """Return the request that moves inventory with its allocations (1.30).

    ``POST /reshaper``: 204; 409 for an outdated generation.

    :param generations: provider uuid → generation, for each inventory
    """
    body: dict[str, Any] = {
        'inventories': {
            part.uuid: {
                'resource_provider_generation': generations[part.uuid],
                'inventories': codec.records(part.inventories),
            }
            for part in operation.inventories
        },
        'allocations': {
            move.consumer.uuid: _consumer(move) for move in operation.moves
        },
    }
    return codec.Request(
        method='POST', path=paths.RESHAPER, body=body, newest=NO_TYPES
    )


def _consumer(move: alloc.Move) -> dict[str, Any]:
    return {
        'allocations': {
            uuid: {'resources': dict(sorted(resources.items()))}
            for uuid, resources in sorted(move.allocations.items())
        },
        'project_id': move.consumer.project_id,
        'user_id': move.consumer.user_id,
        'consumer_generation': move.consumer.generation,
    }
