# SPDX-License-Identifier: Apache-2.0
"""What every operation of a plan answers about itself.

Pure: no I/O, configuration, logging or clock. ``Write`` is the base of all
operations. Its abstract methods are what the executor, the blast radius, the
contention and the intents need to know; a kind of operation that lacks one of
them cannot be made.
"""

import abc
import dataclasses
import enum
from collections.abc import Iterator
from typing import ClassVar

from compute_agent.plan.change import Change
from compute_agent.tree import assertion, names, provider

NO_NAMES = names.KnownNames(traits=frozenset(), resource_classes=frozenset())


class Impossible(ValueError):
    """Placement would refuse this operation on that snapshot."""


class Facet(enum.Enum):
    """The part of a provider, or of placement, that an operation rests on."""

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
    """What one write leaves of one provider, and at which generation.

    :ivar kind: what it replaces; None for the creation of the provider
    :ivar raises: by how much the provider's generation rises; a created
        provider begins at 0
    :ivar names: the whole set that it leaves; None if the names stay as they
        are. Such an advance is intended only for a provider to which the
        plan has written before.
    :ivar added: the names in it that were not there
    """

    uuid: str
    kind: assertion.Kind | None
    raises: int
    names: frozenset[str] | None = frozenset()
    added: frozenset[str] = frozenset()


class Write(abc.ABC):
    """One write to placement, as a value.

    :cvar tells_generations: True if the answer tells the generation that the
        write led to. The executor reads everything again where it does not.
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
        """The provider's uuid, or the trait or class, that it is about."""

    @property
    @abc.abstractmethod
    def providers(self) -> frozenset[str]:
        """The uuids of the providers that it writes to."""

    @property
    @abc.abstractmethod
    def parts(self) -> frozenset[assertion.Key]:
        """The providers and kinds of which it replaces the whole set."""

    @abc.abstractmethod
    def changes(self) -> Iterator[Change]:
        """Yield each name and each provider that it adds, changes or removes.

        The blast radius counts removals and contention counts repetitions by
        this answer. A rename or a move is no change here.
        """

    @abc.abstractmethod
    def needs(self, providers: provider.Snapshot) -> frozenset[Dependency]:
        """Return what must not have been refused before it is sent.

        :param providers: as they are when it would be sent
        """

    @property
    @abc.abstractmethod
    def gives(self) -> frozenset[Dependency]:
        """What is missing for later operations if it is refused."""

    @abc.abstractmethod
    def advances(self) -> Iterator[Advance]:
        """Yield what it leaves of each provider, for the intents."""

    @abc.abstractmethod
    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return what placement holds after it.

        :raises Impossible: placement would refuse it
        """

    @property
    def created_names(self) -> names.KnownNames:
        """The custom traits and resource classes that it creates."""
        return NO_NAMES

    @property
    def taken_name(self) -> str | None:
        """The provider name that it takes, None if it takes no name."""
        return None

    @property
    def moved_classes(self) -> frozenset[str]:
        """The resource classes whose allocations it moves.

        A provider that loses one of them gives it to another provider.
        """
        return frozenset()


def existing(providers: provider.Snapshot, uuid: str) -> provider.Provider:
    """Return the provider of this uuid.

    :raises Impossible: there is none
    """
    if uuid not in providers:
        raise Impossible(f'{uuid} does not exist')
    return providers[uuid]
