# SPDX-License-Identifier: Apache-2.0
"""Moves allocations from the host's own provider to those of its devices.

Pure: no I/O, configuration, logging or clock. Older releases of nova reported
VGPU and MEM_ENCRYPTION_CONTEXT on the host itself. When children report them,
each guest's allocation goes to the child of the device that the guest has.
``reading/reshapes.py`` calls this.
"""

import collections
import dataclasses
from collections.abc import Collection, Iterator, Mapping

from compute_agent.tree import provider_tree

from ...libvirtd import guests
from ..devices import names
from ..devices.child import Children, Kind
from . import moves

# The kind of encrypted memory → the model in the name of its provider.
_MODELS = {
    guests.SEV: names.AMD_SEV,
    guests.SEV_ES: names.AMD_SEV_ES,
    guests.SEV_SNP: names.AMD_SEV_SNP,
    guests.TDX: names.INTEL_TDX,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """An amount of a consumer that goes from the host to a child."""

    consumer: str
    resource_class: str
    child: str
    amount: int


def due(current: Collection[str], children: Children) -> dict[str, Kind]:
    """Return the classes that devices report and the host still has."""
    return {
        rc: child.kind
        for child in children.known
        for rc in child.inventory or ()
        if rc in current and child.kind is not Kind.NUMA
    }


def unknown(
    root: str, current: Collection[str], children: Children
) -> frozenset[str]:
    """Return the classes of the host that unknown children may report.

    :param root: the name of the host's own provider
    """
    kinds = {
        *children.unknown_kinds,
        *(names.kind(root, name) for name in children.unknown),
    }
    of_kind = {
        Kind.MDEV: 'VGPU',
        Kind.MEMORY_ENCRYPTION: 'MEM_ENCRYPTION_CONTEXT',
    }
    return frozenset(rc for kind, rc in of_kind.items() if kind in kinds) & {
        *current
    }


def shares(
    root: str,
    having: Mapping[tuple[str, str], int],
    classes: Mapping[str, Kind],
    known: Mapping[str, guests.Guest],
    parents: Mapping[str, str],
) -> Iterator[Share]:
    """Yield the shares of all consumers.

    :param having: (consumer, class) → its amount of the host's own provider
    :param classes: class → the kind of the children that report it
    :param parents: uuid of a mediated device → libvirt's name of its parent
    :raises moves.Waits: it is unknown which device a consumer has
    """
    for (consumer, rc), amount in having.items():
        guest = known.get(consumer)
        if guest is None:
            raise moves.Waits(
                f'{rc} stays on the host itself: libvirt knows no guest '
                f'{consumer}, which has some; it may be a migration or a '
                'resize that is not finished'
            )
        if classes[rc] is Kind.MDEV:
            found = _mdevs(root, guest, parents)
        else:
            found = _context(root, guest)
        if sum(found.values()) != amount:
            raise moves.Waits(
                f'{rc} stays on the host itself: libvirt does not tell which '
                f'device guest {consumer} has; start the guest, or move it to '
                'another host'
            )
        for child, part in sorted(found.items()):
            yield Share(
                consumer=consumer, resource_class=rc, child=child, amount=part
            )


def _mdevs(
    root: str, guest: guests.Guest, parents: Mapping[str, str]
) -> Mapping[str, int]:
    return collections.Counter(
        names.node_device(root, parents[uuid])
        for uuid in guest.mdevs
        if uuid in parents
    )


def _context(root: str, guest: guests.Guest) -> Mapping[str, int]:
    model = _MODELS.get(guest.encryption)
    return {} if model is None else {names.memory_encryption(root, model): 1}


def carry(
    found: Collection[Share],
    tree: provider_tree.ProviderTree,
    root: str,
    allocations: moves.Allocations,
) -> None:
    """Move the shares, in place.

    :param tree: the tree, with the children that the shares move to
    :param root: the uuid of the host's own provider
    """
    for share in found:
        parts = allocations[share.consumer]['allocations']
        parts[root]['resources'].pop(share.resource_class, None)
    for share in found:
        parts = allocations[share.consumer]['allocations']
        child = tree.data(share.child).uuid
        resources = parts.setdefault(child, {'resources': {}})['resources']
        rc = share.resource_class
        resources[rc] = resources.get(rc, 0) + share.amount
