# SPDX-License-Identifier: Apache-2.0
"""The NUMA nodes of a host as child providers, if an option asks for them.

Pure: no I/O, configuration, logging or clock. Each node has the VCPU, PCPU and
MEMORY_MB of its own, and the host's own provider has none of them. ``root.py``
reads what this divides; ``reshapes.py`` waits with a change of the layout until
no guest has allocations of the old one.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from compute_agent import errors
from compute_agent.tree import inventory, provider_tree
from compute_agent.virt import finding

from ..devices import names, traits
from ..devices.child import Child, Children, Kind
from ..libvirtd import hypervisor, xml
from . import amounts, cpus

FLAT = 'flat'
NESTED = 'nested'
CLASSES = ('VCPU', 'PCPU', 'MEMORY_MB')
HW_NUMA_ROOT = 'HW_NUMA_ROOT'

_KIB_PER_MIB = 1024
# A node's memory that was not touched yet is missing on some kernels.
_SETTLED_PERCENT = 99


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One NUMA node, as libvirt numbers it.

    :ivar huge_mib: the memory in its pools of huge pages
    """

    id: int
    memory_mib: int
    huge_mib: int
    processors: frozenset[int]


def cells(capabilities: str) -> tuple[Cell, ...]:
    """Return the NUMA nodes of a host.

    :param capabilities: the XML of the host's capabilities
    :raises hypervisor.Unanswered: it does not tell them
    """
    root = xml.parse(capabilities, 'the host')
    try:
        found = tuple(
            _cell(one) for one in root.iterfind('host/topology/cells/cell')
        )
    except (KeyError, ValueError) as exc:
        raise hypervisor.Unanswered(
            'the XML of the host has a NUMA node that cannot be understood'
        ) from exc
    if not found:
        raise hypervisor.Unanswered('libvirt tells no NUMA nodes of the host')
    numbers = {cell.id for cell in found}
    if len(numbers) < len(found) or min(numbers) < 0:
        raise hypervisor.Unanswered(
            'the XML of the host has NUMA nodes with the same number, or with '
            'one below 0'
        )
    return found


def _cell(element: xml.Element) -> Cell:
    pools = [
        (int(pool.attrib['size']), int(pool.text or ''))
        for pool in element.iterfind('pages')
    ]
    small = min((size for size, _ in pools), default=0)
    huge = sum(size * count for size, count in pools if size > small)
    return Cell(
        id=int(element.attrib['id']),
        memory_mib=int(element.findtext('memory') or '') // _KIB_PER_MIB,
        huge_mib=huge // _KIB_PER_MIB,
        processors=frozenset(
            int(cpu.attrib['id']) for cpu in element.iterfind('cpus/cpu')
        ),
    )


def divided(
    root: str,
    found: amounts.Amounts,
    parts: Sequence[Cell],
    usable: Mapping[str, frozenset[int]],
    *,
    subtracts_huge_pages: bool,
) -> Children:
    """Return a child for each NUMA node, with its part of the amounts.

    What the host reserves is taken from the nodes in proportion.

    :param root: the name of the host's own provider
    :param found: the amounts of the whole host
    :param usable: VCPU and PCPU → the processors of that class
    :raises errors.DriverError: the nodes are not the whole host
    """
    totals = {
        rc: [len(numbers & cell.processors) for cell in parts]
        for rc, numbers in usable.items()
    }
    totals['MEMORY_MB'] = [
        cell.memory_mib - (cell.huge_mib if subtracts_huge_pages else 0)
        for cell in parts
    ]
    _check(found.known, totals, usable)
    records = {
        rc: _records(found.known[rc], totals[rc])
        for rc in CLASSES
        if rc in found.known
    }
    return Children(
        known=tuple(
            _child(root, cell, {rc: each[i] for rc, each in records.items()})
            for i, cell in enumerate(parts)
        )
    )


def _check(
    known: amounts.Records,
    totals: Mapping[str, Sequence[int]],
    usable: Mapping[str, frozenset[int]],
) -> None:
    for rc, numbers in usable.items():
        if sum(totals[rc]) != len(numbers):
            raise errors.DriverError(
                f'the NUMA nodes of this host do not have all processors of '
                f'{rc} ({cpus.listed(numbers)}) once: set [libvirt] numa = '
                'flat'
            )
    wanted = known.get('MEMORY_MB', {}).get('total', 0)
    if sum(totals['MEMORY_MB']) * 100 < wanted * _SETTLED_PERCENT:
        raise errors.DriverError(
            'the NUMA nodes of this host have less memory than the host: the '
            'kernel adds it when it is first touched; until then, their '
            'amounts are left as they are'
        )


def _records(
    whole: inventory.Record, totals: Sequence[int]
) -> list[dict[str, int | float]]:
    reserved = spread(int(whole['reserved']), totals)
    return [
        {**whole, 'total': total, 'max_unit': total, 'reserved': held}
        for total, held in zip(totals, reserved, strict=True)
    ]


def spread(amount: int, totals: Sequence[int]) -> list[int]:
    """Return parts of an amount, in proportion to the totals."""
    every = sum(totals)
    parts = [amount * total // every if every else 0 for total in totals]
    left = amount - sum(parts)
    for i, total in enumerate(totals):
        more = min(left, total - parts[i])
        parts[i] += more
        left -= more
    return parts


def _child(
    root: str, cell: Cell, records: Mapping[str, dict[str, int | float]]
) -> Child:
    name = names.numa_node(root, cell.id)
    return Child(
        name=name,
        kind=Kind.NUMA,
        inventory={rc: r for rc, r in records.items() if r['total']},
        findings=_findings(name, f'NUMA node {cell.id}'),
    )


def _findings(name: str, fact: str) -> tuple[finding.Finding, ...]:
    return (
        traits.owner(name),
        traits.present(name, HW_NUMA_ROOT, fact, traits.LIBVIRT),
    )


def without(found: amounts.Amounts) -> amounts.Amounts:
    """Return the amounts of the host itself, if its NUMA nodes have these."""
    return dataclasses.replace(
        found,
        known={rc: r for rc, r in found.known.items() if rc not in CLASSES},
    )


def leaving(
    root: provider_tree.ProviderData,
    nodes: Collection[str],
    children: Children,
) -> frozenset[str]:
    """Return the providers that lose these classes to another layout.

    :param root: the host's own provider as placement has it
    :param nodes: the uuids of NUMA nodes with inventory in placement
    :param children: the children that the host should have
    """
    if any(child.kind is Kind.NUMA for child in children.known):
        has_some = not root.inventory.keys().isdisjoint(CLASSES)
        return frozenset({root.uuid} if has_some else ())
    return frozenset(() if Kind.NUMA in children.unknown_kinds else nodes)


def in_use(allocations: Mapping[str, Any], providers: Collection[str]) -> bool:
    """Return True if a consumer has some of these classes of a provider."""
    return any(
        rc in CLASSES
        for one in allocations.values()
        for uuid, part in one['allocations'].items()
        if uuid in providers
        for rc in part['resources']
    )


def are_both(root: provider_tree.ProviderData, nodes: Collection[str]) -> bool:
    """Return True if placement has these classes of the host and of nodes.

    The driver never reports both, so another service reports the host's.
    """
    return bool(nodes) and not root.inventory.keys().isdisjoint(CLASSES)


def reserved_nodes(nodes: Iterable[str]) -> Children:
    """Return NUMA nodes with the amounts of placement, all of them reserved.

    :param nodes: their names
    """
    return Children(
        known=tuple(
            Child(
                name=name,
                kind=Kind.NUMA,
                inventory=None,
                findings=_findings(name, 'its provider'),
                reserved=True,
            )
            for name in nodes
        )
    )


def reserved_root(
    found: amounts.Amounts, current: amounts.Records
) -> amounts.Amounts:
    """Return the amounts of a host; these classes stay, all of them reserved.

    :param current: the host's inventory in placement
    """
    reserved = {
        rc: {**record, 'reserved': record['total']}
        for rc, record in current.items()
        if rc in CLASSES
    }
    return dataclasses.replace(
        found,
        known={**found.known, **reserved},
        unknown=found.unknown.difference(CLASSES),
    )


#: The fault while both layouts are in placement.
BOTH = amounts.Amounts.unread(
    'placement has VCPU, PCPU or MEMORY_MB of this host and of its NUMA '
    "nodes, because another service reports the host's; what could be "
    'offered twice is reserved: stop nova-compute on this host, or set '
    '[libvirt] numa = flat and move the guests of the nodes to another host'
)

#: The amounts while guests still have allocations of the other layout.
WAITS = amounts.Amounts.unread(
    '[libvirt] numa is not followed yet, because guests have allocations of '
    'VCPU, PCPU or MEMORY_MB: move them to another host, or set the option '
    'back',
    *CLASSES,
)
