# SPDX-License-Identifier: Apache-2.0
"""The NUMA nodes of a host as child providers, if an option asks for them.

Pure: no I/O, configuration, logging or clock. Each node has the VCPU, PCPU and
MEMORY_MB of its own, and the host's own provider has none of them. ``reading/``
reads what this divides; ``reshapes/`` waits with a change of the layout until
no guest has allocations of the old one.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from compute_agent import errors
from compute_agent.tree import inventory
from compute_agent.virt.values import finding

from ...libvirtd import cpusets, hypervisor, xml
from ..devices import names, traits
from ..devices.child import Child, Children, Kind
from . import amounts, cpus

FLAT = 'flat'
NESTED = 'nested'
#: The classes that the nodes have in place of the host.
CLASSES = (*cpus.CLASSES, 'MEMORY_MB')
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
    :raises hypervisor.Unanswered: the capabilities do not tell the nodes
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

    Each node reserves a part of the host's reserved amount, in proportion.

    :param root: the name of the host's own provider
    :param found: the amounts of the whole host
    :param usable: class of ``cpus.CLASSES`` → its processors
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
                f'{rc} ({cpusets.listed(numbers)}) once: set [libvirt] numa = '
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
        findings=findings(name, f'NUMA node {cell.id}'),
    )


def findings(name: str, fact: str) -> tuple[finding.Finding, ...]:
    """Return the traits of the provider of a node."""
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
