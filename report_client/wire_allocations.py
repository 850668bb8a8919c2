# SPDX-License-Identifier: Apache-2.0
"""Allocations in placement's HTTP and JSON: what is read, and the reshaper.

Pure: no I/O, configuration, logging or clock. The reshape is sent in no newer
microversion than 1.37: from 1.38 on each consumer's type is to be given, which
for those from before there were types is a word placement does not take back;
before, it leaves the type of a consumer as it is.
"""

from collections.abc import Mapping
from typing import Any

from . import allocations as alloc
from . import answers, wire
from . import operations as ops

NO_TYPES: wire.Version = (1, 37)


def path(consumer: str) -> str:
    """Return the path of all that one consumer has."""
    return f'{wire.CONSUMERS}{consumer}'


def consumer(
    uuid: str, body: object
) -> tuple[alloc.Consumer, dict[str, int]] | None:
    """Return a consumer and its providers' generations; None: it has nothing.

    The answer to ``GET /allocations/{consumer}`` (1.28; the type from 1.38).

    :raises errors.MalformedAnswer: not as documented
    """

    def read() -> tuple[alloc.Consumer, dict[str, int]] | None:
        answer = answers.mapping(body)
        parts = {
            provider: answers.mapping(part)
            for provider, part in answers.mapping(
                answer['allocations']
            ).items()
        }
        if not parts:
            return None
        return alloc.Consumer(
            uuid=uuid,
            project_id=answers.string(answer['project_id']),
            user_id=answers.string(answer['user_id']),
            generation=answers.count(answer['consumer_generation']),
            consumer_type=answers.string(answer.get('consumer_type', '')),
            allocations={
                provider: {
                    rc: answers.count(amount)
                    for rc, amount in answers.mapping(
                        part['resources']
                    ).items()
                }
                for provider, part in parts.items()
            },
        ), {
            provider: answers.count(part['generation'])
            for provider, part in parts.items()
        }

    return answers.checked(read, body)


def reshape(
    operation: ops.Reshape, generations: Mapping[str, int]
) -> wire.Request:
    """Return the request that moves inventory with its allocations (1.30).

    :param generations: of the providers whose inventories are sent
    """
    body: dict[str, Any] = {
        'inventories': {
            one.uuid: {
                'resource_provider_generation': generations[one.uuid],
                'inventories': wire.records(one.inventories),
            }
            for one in operation.inventories
        },
        'allocations': {
            move.consumer.uuid: _consumer(move) for move in operation.moves
        },
    }
    return wire.Request(
        method='POST', path=wire.RESHAPER, body=body, newest=NO_TYPES
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
