# SPDX-License-Identifier: Apache-2.0
"""Operations as placement's HTTP requests, and the answers to them.

Pure: no I/O, configuration, logging or clock. Only this module knows which
request carries out which kind of operation.
"""

from collections.abc import Mapping
from typing import Any, assert_never

from compute_agent.plan.operations import operations as ops

from . import codec, codec_allocations, paths


def request(  # noqa: PLR0911 (a case for each kind)
    operation: ops.Operation, generations: Mapping[str, int]
) -> codec.Request:
    """Return the request that carries out an operation.

    :param generations: the generations of the providers that it writes
    """
    match operation:
        case ops.CreateTrait(name=name):
            return codec.Request(method='PUT', path=paths.trait(name))
        case ops.CreateResourceClass(name=name):
            path = f'{paths.RESOURCE_CLASSES}/{name}'
            return codec.Request(method='PUT', path=path)
        case ops.CreateProvider():
            return _creation(operation)
        case ops.UpdateProvider():
            return codec.Request(
                method='PUT',
                path=f'{paths.PROVIDERS}/{operation.uuid}',
                body={
                    'name': operation.name,
                    'parent_provider_uuid': operation.parent_uuid,
                },
            )
        case ops.DeleteProvider(uuid=uuid):
            path = f'{paths.PROVIDERS}/{uuid}'
            return codec.Request(method='DELETE', path=path)
        case ops.SetTraits() | ops.SetAggregates():
            content = sorted(operation.names)
            return _replacement(operation, content, generations)
        case ops.SetInventories():
            records = codec.records(operation.inventories)
            return _replacement(operation, records, generations)
        case ops.Reshape():
            return codec_allocations.reshape(operation, generations)
        case _:
            assert_never(operation)


def generation_after(operation: ops.Operation, answer: object) -> int | None:
    """Return the provider's generation in the answer; None without one.

    :raises errors.MalformedAnswer: the answer is not as documented
    """
    match operation:
        case ops.CreateProvider():
            return codec.created_generation(answer)
        case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
            return codec.generation_after(answer)
        case (
            ops.CreateTrait()
            | ops.CreateResourceClass()
            | ops.UpdateProvider()
            | ops.DeleteProvider()
            | ops.Reshape()
        ):
            return None
        case _:
            assert_never(operation)


def _creation(operation: ops.CreateProvider) -> codec.Request:
    body = {'uuid': operation.uuid, 'name': operation.name}
    if operation.parent_uuid is not None:
        body['parent_provider_uuid'] = operation.parent_uuid
    return codec.Request(method='POST', path=paths.PROVIDERS, body=body)


def _replacement(
    operation: ops.SetOperation,
    content: Any,
    generations: Mapping[str, int],
) -> codec.Request:
    """Return the request that replaces contents of one kind.

    It carries the generation, so placement refuses it if another writer
    changed the provider in between.
    """
    return codec.Request(
        method='PUT',
        path=paths.collection(operation.uuid, operation.kind),
        body={
            'resource_provider_generation': generations.get(operation.uuid),
            paths.COLLECTIONS[operation.kind]: content,
        },
    )
