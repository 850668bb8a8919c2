# SPDX-License-Identifier: Apache-2.0
"""Find trees whose shape is a trap: many equal children, and carved cards.

Pure: no I/O, configuration, logging or clock. Both checks need the inventories
of all providers.

Placement answers a request for candidates with each way to meet it. A request
with a group for each device can take n equal children in n (n - 1) … ways.
A card that is offered as a whole, beside the parts that it is carved into, can
be allocated twice.
"""

import math
import re
from collections.abc import Iterator, Sequence

from . import cloud, finding

Kind = finding.Kind

MANY = 8  # equal children below one parent
_GROUPS = (2, 4)  # request groups for which the candidates are reckoned

# The address of a PCI device in a name: as nova writes it (``0000:84:00.0``),
# and as libvirt does (``pci_0000_84_00_0``).
_ADDRESS = re.compile(
    r'(?<![0-9a-f])([0-9a-f]{4,8})([:_])([0-9a-f]{2})\2([0-9a-f]{2})[._]'
    r'([0-7])(?![0-9a-f])'
)
_PCI = 'CUSTOM_PCI_'
# The classes of devices that a driver may offer whole or in parts.
_DEVICES = {'VGPU', 'PGPU', 'PCI_DEVICE', 'SRIOV_NET_VF', 'FPGA'}


def findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the equal children and the carved cards of all trees."""
    if not known.placement.is_complete:
        return
    for _, tree in sorted(known.placement.trees().items()):
        ordered = sorted(tree, key=lambda p: (p.name, p.uuid))
        yield from _equal_children(known.placement, ordered)
        yield from _carved(known.placement, ordered)


def _offered(placement: cloud.Placement, uuid: str) -> dict[str, int]:
    """Return the resource classes that a provider offers, with amounts."""
    contents = placement.contents.get(uuid)
    if contents is None:
        return {}
    return {
        rc: has.total - has.reserved
        for rc, has in contents.inventories.items()
        if has.capacity >= 1
    }


# --- equal children -----------------------------------------------------------


def _equal_children(
    placement: cloud.Placement, tree: Sequence[cloud.ListedProvider]
) -> Iterator[finding.Finding]:
    groups: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
    for one in tree:
        offered = tuple(sorted(_offered(placement, one.uuid).items()))
        if one.parent_uuid is not None and offered:
            key = one.parent_uuid, offered
            groups[key] = groups.get(key, 0) + 1
    for (parent, offered), count in groups.items():
        if count >= MANY:
            classes = ', '.join(f'{rc} {amount}' for rc, amount in offered)
            yield finding.Finding(
                kind=Kind.EQUAL_CHILDREN,
                level=finding.Level.NOTE,
                subject=str(placement.providers[parent]),
                why=f'{count} children offer the same ({classes}): a request '
                f'that asks for devices one by one has {_candidates(count)} '
                'in this tree alone',
                advice='have one provider offer those that need not be told '
                'apart, or set [placement] '
                'allocation_candidates_generation_strategy = breadth-first '
                'and max_allocation_candidates in placement',
            )


def _candidates(count: int) -> str:
    """Return the numbers of candidates that so many equal children make."""
    two, four = (math.perm(count, groups) for groups in _GROUPS)
    return f'{two:,} candidates for two devices and {four:,} for four'


# --- carved cards -------------------------------------------------------------


def _carved(
    placement: cloud.Placement, tree: Sequence[cloud.ListedProvider]
) -> Iterator[finding.Finding]:
    devices = {
        one.uuid: found
        for one in tree
        if (found := _devices(placement, one.uuid))
    }
    by_address: dict[str, cloud.ListedProvider] = {}
    for one in (each for each in tree if each.uuid in devices):
        classes = devices[one.uuid]
        if len([rc for rc in classes if rc.startswith(_PCI)]) > 1:
            yield _twice(one, one, classes, 'under several resource classes')
        whole = devices.get(one.parent_uuid or '', {})
        if whole:
            parent = placement.providers[str(one.parent_uuid)]
            yield _twice(parent, one, whole, 'as a whole, and its parts too')
        address = _address(one.name)
        if address and address in by_address:
            other = by_address[address]
            yield _twice(other, one, devices[other.uuid], 'by two providers')
        elif address:
            by_address[address] = one


def _devices(placement: cloud.Placement, uuid: str) -> dict[str, int]:
    return {
        rc: amount
        for rc, amount in _offered(placement, uuid).items()
        if rc in _DEVICES or rc.startswith(_PCI)
    }


def _address(name: str) -> str:
    """Return the PCI address in a name; empty if the name has no address."""
    found = _ADDRESS.search(name.lower())
    return '{}:{}:{}.{}'.format(*found.group(1, 3, 4, 5)) if found else ''


def _twice(
    one: cloud.ListedProvider,
    other: cloud.ListedProvider,
    classes: dict[str, int],
    how: str,
) -> finding.Finding:
    """Return the finding about a card that can be allocated twice.

    :param one: the provider that offers the device as a whole
    :param classes: what that provider offers
    """
    rc, amount = min(classes.items(), key=lambda item: (item[1], item[0]))
    subjects = dict.fromkeys((str(one), str(other)))
    return finding.Finding(
        kind=Kind.CARVED_CARD,
        subject=' and '.join(subjects),
        why=f'one card is offered {how}, so it can be allocated twice',
        advice='correct the driver or [pci] device_spec of this host; until '
        f'then: compute-agent resource provider inventory set {one.uuid} '
        f'--amend --resource {rc}:reserved={amount}',
    )
