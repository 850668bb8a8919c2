# SPDX-License-Identifier: Apache-2.0
"""The rules for ownership: the driver's authority, ratios, operator's orders.

Pure: no I/O, configuration, logging or clock. The node planner makes a Policy
for all nodes with the same rules; ``resolve.py`` and ``claims.py`` follow it.

A ``Prune`` is the operator's order to remove certain names, from one node or
from all. An agent that lost its state database no longer knows what it added,
so it only adds. ``sync --prune`` names what to remove, one by one; a name that
a source claims stays.
"""

import dataclasses
import enum
import fnmatch
import functools
import re
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence

from .. import errors
from ..fleet.values import mark
from ..fleet.values.mark import Mark
from ..limits import approval, contention
from ..tree import names
from ..tree.inventory import Ratios
from ..tree.node import Node
from . import nova_traits

_AUTHORITY = re.compile(r'[A-Z0-9_]{1,254}[A-Z0-9_*]')
_MASK = re.compile(r'[A-Z0-9_*?]{1,255}')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The operator's orders about names, whatever the sources assert.

    :ivar masked: patterns, with ``*`` and ``?``, of traits that are never
        reported
    :ivar prune: names that are removed in this cycle if no source claims them
    :ivar takes_over: True to allow the first write to other writers' providers
    :ivar is_confirmed: True if a person allowed whatever waits
    :ivar recreates_roots: True to create roots again that others deleted
    """

    masked: Collection[str] = ()
    prune: Collection[str] = ()
    takes_over: bool = False
    is_confirmed: bool = False
    recreates_roots: bool = True

    def __post_init__(self) -> None:
        """Refuse a mask that matches no trait, or a protected name.

        :raises errors.InvalidName: the mask matches no trait
        :raises errors.ConfigError: the name must not be pruned
        """
        for mask in self.masked:
            check_mask(mask)
        for name in self.prune:
            if is_protected(name):
                raise errors.ConfigError(
                    f'{name} is not pruned, because others decide by it; to '
                    'remove it from one provider, run "compute-agent '
                    'resource provider trait remove"'
                )


NO_ORDERS = Orders()


class Mode(enum.Enum):
    """The agent's part for its nodes, as in ``[compute_agent] mode``."""

    OWNER = 'owner'  # the agent reports the node
    COMPANION = 'companion'  # nova-compute does, and the agent adds to it
    # nova-compute starts the guests there, and the agent reports the node,
    # except for what nova-compute adds without asking its driver
    REPORTER = 'reporter'

    @property
    def is_beside_nova(self) -> bool:
        """True if a nova-compute knows the node by its own uuid and name."""
        return self is not Mode.OWNER


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules for the providers of one node, or of several nodes.

    :ivar authority: the traits and prefixes that each driver alone decides, by
        the driver's name as a source
    :ivar contended: the items that stay as they are, because another writer
        undoes the agent's changes
    :ivar held: the removals that wait until a person approves them
    :ivar mode: the agent's part for the node
    :ivar mark: the agent's mark; None if it ignores other agents' marks
    :ivar leaves: True if the agent removes all that it added, so that what
        stays needs no advice
    """

    authority: Mapping[str, Sequence[str]] = dataclasses.field(
        default_factory=dict
    )
    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    orders: Orders = NO_ORDERS
    contended: Collection[contention.Item] = ()
    held: frozenset[approval.Subject] = frozenset()
    mode: Mode = Mode.OWNER
    mark: Mark | None = None
    leaves: bool = False

    def __post_init__(self) -> None:
        """Refuse an authority that may claim more than the driver meant.

        :raises errors.DriverError: it is not a sequence of names and prefixes
        """
        checked = {
            source: check_authority(given)
            for source, given in self.authority.items()
        }
        object.__setattr__(self, 'authority', checked)

    @property
    def is_companion(self) -> bool:
        """True if nova-compute reports the node."""
        return self.mode is Mode.COMPANION

    def decides(self, source: str, trait: str) -> bool:
        """Return True if this driver alone decides this trait."""
        if self.mode is Mode.REPORTER and nova_traits.is_nova_computes(trait):
            return False
        return not is_protected(trait) and any(
            trait.startswith(a[:-1]) if a.endswith('*') else trait == a
            for a in self.authority.get(source, ())
        )

    def masks(self, trait: str) -> bool:
        """Return True if this trait is never reported."""
        return any(
            fnmatch.fnmatchcase(trait, mask) for mask in self.orders.masked
        )


def check_authority(given: object) -> tuple[str, ...]:
    """Return a copy of an authority: the driver may change its own later.

    :raises errors.DriverError: the authority may claim more than the driver
        meant
    """
    if isinstance(given, Iterable) and not isinstance(given, str):
        given = tuple(given)
    _check_authority(given)
    return typing.cast(tuple[str, ...], given)


@functools.lru_cache(maxsize=1024)
def _check_authority(given: object) -> None:
    wrong = (
        [a for a in given if not _AUTHORITY.fullmatch(str(a))]
        if isinstance(given, tuple)
        else [given]
    )
    if wrong:
        raise errors.DriverError(
            f'authority {wrong[0]!r} is neither a trait nor a prefix such '
            'as HW_CPU_*; give a sequence of those'
        )


def is_protected(name: str) -> bool:
    """Return True for a trait that no complete list removes.

    Others set these traits: nova sets COMPUTE_STATUS_DISABLED, each project
    its own OWNER_* trait, and each agent of several nodes its mark.
    """
    return (
        name == names.COMPUTE_STATUS_DISABLED
        or name.startswith(names.OWNER_PREFIX)
        or mark.parse(name) is not None
    )


def check_mask(mask: str) -> str:
    """Return the mask if it can match a trait.

    :raises errors.InvalidName: the mask can match no trait
    """
    if not _MASK.fullmatch(mask):
        raise errors.InvalidName(
            f'{mask!r} matches no trait: write capital letters, digits and _, '
            'with * for any characters and ? for one, such as HW_CPU_X86_*'
        )
    return mask


_NAME = re.compile(r'[A-Z0-9_]{1,255}')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Traits, resource classes and aggregates to remove.

    :ivar node: the name, title or uuid of one node; None for every node
    """

    names: frozenset[str] = frozenset()
    node: str | None = None

    @classmethod
    def parse(
        cls, words: Iterable[str], node: str | None = None
    ) -> typing.Self:
        """Return the order that an operator wrote.

        :param words: names, or several with commas between them
        :raises errors.ConfigError: a word is not a name, the agent never
            prunes it, or there is a node without a name
        """
        listed = [name for word in words for name in word.split(',')]
        if node is not None and not listed:
            raise errors.ConfigError(
                '--node selects a node for --prune: add --prune NAME'
            )
        checked = frozenset(_checked(name.strip()) for name in listed)
        Orders(prune=checked)  # refuses the protected names
        return cls(names=checked, node=node)

    def names_for(self, node: Node) -> frozenset[str]:
        """Return the names to remove from one node's providers."""
        selected = {None, node.name, node.called, node.uuid}
        return self.names if self.node in selected else frozenset()

    def remaining(self, removed: Collection[str]) -> list[str]:
        """Return the ordered names that are not among the removed ones."""
        return sorted(self.names.difference(removed))


NO_PRUNE = Prune()


def _checked(name: str) -> str:
    if names.is_uuid(name):
        return name.lower()
    if not _NAME.fullmatch(name):
        raise errors.ConfigError(
            f'--prune: {name!r} is not a trait, resource class or aggregate: '
            'give complete names, separated by commas'
        )
    return name
