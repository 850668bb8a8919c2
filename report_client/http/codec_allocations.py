# SPDX-License-Identifier: Apache-2.0
"""Allocations in placement's HTTP and JSON: what is read, and the reshaper.

Pure: no I/O, configuration, logging or clock. The reshape is sent in no newer
microversion than 1.37: from 1.38 on each consumer's type is to be given, which
for those from before there were types is a word placement does not take back;
before, it leaves the type of a consumer as it is.
"""

from collections.abc import Mapping
from typing import Any

from compute_agent.tree import allocations as alloc

from ..operations import operations as ops
from . import codec, json_shapes

NO_TYPES: codec.Version = (1, 37)


def consumer_path(consumer: str) -> str:
    """Return the path of all that one consumer has."""
    return f'{codec.CONSUMERS}{consumer}'


def consumer(
    uuid: str, body: object
) -> tuple[alloc.Consumer, dict[str, int]] | None:
    """Return a consumer and its providers' generations; None: it has nothing.

    The answer to ``GET /allocations/{consumer}`` (1.28; the type from 1.38).

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


def reshape(
    operation: ops.Reshape, generations: Mapping[str, int]
) -> codec.Request:
    """Return the request that moves inventory with its allocations (1.30).

    :param generations: of the providers whose inventories are sent
    """
    body: dict[str, Any] = {
        'inventories': {
            one.uuid: {
                'resource_provider_generation': generations[one.uuid],
                'inventories': codec.records(one.inventories),
            }
            for one in operation.inventories
        },
        'allocations': {
            move.consumer.uuid: _consumer(move) for move in operation.moves
        },
    }
    return codec.Request(
        method='POST', path=codec.RESHAPER, body=body, newest=NO_TYPES
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
