# SPDX-License-Identifier: Apache-2.0
"""The operations that a plan consists of: one value for each write.

Pure: no I/O, configuration, logging or clock. An operation carries no
generation (the executor keeps the ledger). ``write.py`` has the questions that
every operation answers; ``apply_to`` is what placement does with it, as a
function on snapshots.
"""

from collections.abc import Iterable

from ...tree import names, provider, working_copy
from .contents import (
    Causes,
    Inventories,
    SetAggregates,
    SetInventories,
    SetOperation,
    SetTraits,
)
from .names import CreateResourceClass, CreateTrait, NameOperation
from .providers import CreateProvider, DeleteProvider, UpdateProvider
from .reshape import Reshape
from .write import Impossible, Write

__all__ = [
    'Causes',
    'CreateProvider',
    'CreateResourceClass',
    'CreateTrait',
    'DeleteProvider',
    'Impossible',
    'Inventories',
    'NameOperation',
    'Operation',
    'ProviderOperation',
    'Reshape',
    'SetAggregates',
    'SetInventories',
    'SetOperation',
    'SetTraits',
    'UpdateProvider',
    'Write',
    'created_names',
    'is_known',
    'simulate',
]

ProviderOperation = (
    CreateProvider | UpdateProvider | DeleteProvider | SetOperation | Reshape
)
# Every kind: a match over these ends in assert_never.
Operation = NameOperation | ProviderOperation


def simulate(
    operations: Iterable[Write], providers: provider.Snapshot
) -> provider.Snapshot:
    """Return the providers after these operations, carried out in order.

    :raises Impossible: placement would refuse one of them
    """
    after: provider.Snapshot = working_copy.WorkingCopy(providers)
    for operation in operations:
        after = operation.apply_to(after)
    return after


def created_names(operations: Iterable[Write]) -> names.KnownNames:
    """Return the traits and the resource classes that these create."""
    created = [operation.created_names for operation in operations]
    return names.KnownNames(
        traits=frozenset[str]().union(*(c.traits for c in created)),
        resource_classes=frozenset[str]().union(
            *(c.resource_classes for c in created)
        ),
    )


def is_known(operation: Write, known: names.KnownNames) -> bool:
    """Return True if placement knows all names that it creates."""
    created = operation.created_names
    return (
        created.traits <= known.traits
        and created.resource_classes <= known.resource_classes
    )
