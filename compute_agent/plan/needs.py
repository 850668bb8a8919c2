# SPDX-License-Identifier: Apache-2.0
"""The facts that the decision about a node lacks, and those that are known.

Pure: no I/O, configuration, logging or clock. A decision that cannot be made
yet returns ``Needs``. The cycle has them read, and decides again with what is
``Known`` now.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..tree import provider
from ..tree.assertion import Named
from ..tree.names import KnownNames
from . import allocations


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A provider that is in an aggregate of a pool.

    :ivar root_uuid: the root of its tree
    """

    uuid: str
    name: str
    root_uuid: str

    def __str__(self) -> str:
        return provider.title(self.name, self.uuid)


# The root of a pool's tree → the providers outside this agent's trees that are
# in an aggregate of the pool.
Outsiders: TypeAlias = Mapping[str, Sequence[Member]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The facts that a decision about one node lacks.

    :ivar authors: the names that are restored: who changed them
    :ivar consumers: the providers whose consumers decide what is kept
    :ivar names: True if it needs the names that placement knows
    :ivar pools: the pools that would lose something, by the root of their
        tree, and the aggregates whose members decide
    :ivar roots: uuid → name of the new roots: the names must be free
    """

    node_uuid: str
    authors: frozenset[Named] = frozenset()
    consumers: tuple[provider.Provider, ...] = ()
    names: bool = False
    pools: Mapping[str, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    roots: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The facts that were read for a decision about one node.

    :ivar authors: who changed a name that is restored; empty for another
        writer
    :ivar consumers: the consumers of providers, by uuid
    :ivar names: the names that placement knows; None if they were not read
    :ivar outsiders: the others' providers in the aggregates of pools
    :ivar roots: the new roots whose names no other provider has
    """

    authors: Mapping[Named, str] = dataclasses.field(default_factory=dict)
    consumers: Mapping[str, allocations.Consumers] = dataclasses.field(
        default_factory=dict
    )
    names: KnownNames | None = None
    outsiders: Outsiders = dataclasses.field(default_factory=dict)
    roots: frozenset[str] = frozenset()

    def plus(self, more: 'Known') -> 'Known':
        """Return these facts together with further ones."""
        return Known(
            authors={**self.authors, **more.authors},
            consumers={**self.consumers, **more.consumers},
            names=more.names or self.names,
            outsiders={**self.outsiders, **more.outsiders},
            roots=self.roots | more.roots,
        )


NOTHING = Known()
