# SPDX-License-Identifier: Apache-2.0
"""The base class of operations: the methods that every operation has.

Pure: no I/O, configuration, logging or clock. ``Write`` is the base of all
operations. Its abstract methods tell the executor, the blast radius, the
contention and the intents what they need to know; a class that lacks one of
them cannot be instantiated.
"""

import abc
import dataclasses
import enum
from collections.abc import Iterator
from typing import ClassVar

from ...tree import assertion, names, provider
from ..change import Change

NO_NAMES = names.KnownNames(traits=frozenset(), resource_classes=frozenset())


class Impossible(ValueError):
    """Placement would refuse this operation on that snapshot."""


class Facet(enum.Enum):
    """A part of a provider, or of placement, that operations depend on."""

    #: A custom trait or resource class.
    NAME = 'name'
    #: The provider: its existence, its name and its parent.
    PROVIDER = 'provider'
    #: The provider's inventories.
    INVENTORY = 'inventory'
    #: The provider's traits and aggregates.
    LABELS = 'labels'


# A facet, and the name or the provider's uuid that it belongs to.
Dependency = tuple[Facet, str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The state of one provider after a write, with its new generation.

    :ivar kind: the kind of names that it replaces; None for the creation of
        the provider
    :ivar raises: the number by which the provider's generation rises; a
        created provider begins at 0
    :ivar names: the complete set after it; None if the names stay as they are.
        Such an advance becomes an intent only for a provider to which the plan
        has written before.
    :ivar added: the names in it that were not there
    """

    uuid: str
    kind: assertion.Kind | None
    raises: int
    names: frozenset[str] | None = frozenset()
    added: frozenset[str] = frozenset()


class Write(abc.ABC):
    """One write to placement, as a value.

    :cvar tells_generations: True if the answer has the generation after the
        write. If not, the node is planned again on a new observation.
    :cvar is_done_if_absent: True if placement's "not found" means that the
        write is not needed any more
    :cvar is_shared: True if all nodes share what it creates, so that several
        plans may contain it
    """

    __slots__ = ()

    tells_generations: ClassVar[bool] = True
    is_done_if_absent: ClassVar[bool] = False
    is_shared: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def subject(self) -> str:
        """The uuid of its provider, or its trait or resource class."""

    @property
    @abc.abstractmethod
    def providers(self) -> frozenset[str]:
        """The uuids of the providers that it writes to."""

    @property
    @abc.abstractmethod
    def parts(self) -> frozenset[assertion.Key]:
        """The providers and kinds whose complete set it replaces."""

    @abc.abstractmethod
    def changes(self) -> Iterator[Change]:
        """Yield each name and each provider that it adds, changes or removes.

        The blast radius counts removals by it, and contention counts
        repetitions. A rename or a move does not count as a change here.
        """

    @abc.abstractmethod
    def needs(self, providers: provider.Snapshot) -> frozenset[Dependency]:
        """Return the facets it depends on: if one was refused, it is not sent.

        :param providers: the providers as they are when the write is sent
        """

    @property
    def reduced_classes(self) -> frozenset[str]:
        """The resource classes whose capacity it lowers."""
        return frozenset()

    @property
    def grown_classes(self) -> frozenset[str]:
        """The resource classes whose capacity it raises."""
        return frozenset()

    @property
    @abc.abstractmethod
    def gives(self) -> frozenset[Dependency]:
        """The facets that later operations miss if this write is refused."""

    @abc.abstractmethod
    def advances(self) -> Iterator[Advance]:
        """Yield each provider's state after this write, for the intents."""

    @abc.abstractmethod
    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the providers as placement has them after this write.

        :raises Impossible: placement would refuse it
        """

    @property
    def created_names(self) -> names.KnownNames:
        """The custom traits and resource classes that it creates."""
        return NO_NAMES

    @property
    def moved_classes(self) -> frozenset[str]:
        """The resource classes whose allocations it moves.

        A provider that loses one of these classes does not count as losing it:
        another provider gets it.
        """
        return frozenset()


def existing(providers: provider.Snapshot, uuid: str) -> provider.Provider:
    """Return the provider of this uuid.

    :raises Impossible: the provider does not exist
    """
    if uuid not in providers:
        raise Impossible(f'{uuid} does not exist')
    return providers[uuid]
