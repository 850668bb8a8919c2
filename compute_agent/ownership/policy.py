# SPDX-License-Identifier: Apache-2.0
"""What decides beside the tree: authority, ratios, and the operator's orders.

Pure: no I/O, configuration, logging or clock. The resource tracker makes a
Policy for each node, ``resolve.py`` and ``claims.py`` go by it.
"""

import dataclasses
import fnmatch
import functools
import re
from collections.abc import Collection, Iterable, Sequence

from .. import errors
from ..limits import contention
from ..tree import names
from ..tree.allocation_ratios import Ratios

_AUTHORITY = re.compile(r'[A-Z0-9_]{1,254}[A-Z0-9_*]')
_MASK = re.compile(r'[A-Z0-9_*?]{1,255}')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What the operator says of names, whatever the sources assert.

    :ivar masked: traits that are never reported, with ``*`` and ``?``
    :ivar prune: names that go in this cycle where no source holds them
    """

    masked: Collection[str] = ()
    prune: Collection[str] = ()

    def __post_init__(self) -> None:
        """Refuse what names nothing, or what must not be pruned.

        :raises errors.ConfigError: a mask or a name is none
        """
        for mask in self.masked:
            check_mask(mask)
        for name in self.prune:
            if is_protected(name):
                raise errors.ConfigError(
                    f'{name} is not pruned: others decide by it; "compute-'
                    'agent provider trait remove" takes it off a provider'
                )


NO_ORDERS = Orders()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides of one node's providers, beside what was said of them.

    :ivar contended: what is left as it is, for another writer undoes it
    """

    node_uuid: str
    authority: Sequence[str] = ()
    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    orders: Orders = NO_ORDERS
    contended: Collection[contention.Item] = ()

    def __post_init__(self) -> None:
        """Refuse an authority that would claim what nobody meant.

        :raises errors.DriverError: it is not names and prefixes
        """
        given: object = self.authority
        if isinstance(given, Iterable) and not isinstance(given, str):
            given = tuple(given)  # the driver's own may change
            object.__setattr__(self, 'authority', given)
        _check_authority(given)

    def decides(self, trait: str) -> bool:
        """Whether the driver alone decides this trait."""
        return not is_protected(trait) and any(
            trait.startswith(a[:-1]) if a.endswith('*') else trait == a
            for a in self.authority
        )

    def masks(self, trait: str) -> bool:
        """Whether this trait is never to be reported."""
        return any(
            fnmatch.fnmatchcase(trait, mask) for mask in self.orders.masked
        )


@functools.cache
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
    """Traits that no claim to the whole takes away: others decide by them."""
    disabled = name == names.COMPUTE_STATUS_DISABLED
    return disabled or name.startswith(names.OWNER_PREFIX)


def check_mask(mask: str) -> str:
    """Return a mask that can match a trait.

    :raises errors.InvalidName: it cannot
    """
    if not _MASK.fullmatch(mask):
        raise errors.InvalidName(
            f'{mask!r} matches no trait: write capital letters, digits and _, '
            'with * for any characters and ? for one, such as HW_CPU_X86_*'
        )
    return mask
