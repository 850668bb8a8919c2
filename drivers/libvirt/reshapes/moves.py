# SPDX-License-Identifier: Apache-2.0
"""Moves allocations of VCPU to PCPU when a host begins to offer PCPU.

Pure: no I/O, configuration, logging or clock. Guests with pinned processors
had VCPU on a host without ``cpu_dedicated_set``. If the host then offered PCPU
beside their allocations, placement would give the same processors away a
second time. So the inventories and the allocations change in one transaction,
or not at all. ``reading/reshapes.py`` calls this.
"""

from collections.abc import Mapping
from typing import Any

from compute_agent import errors

from ...libvirtd import cpusets, guests
from ..inventory import amounts, cpus

Allocations = Mapping[str, Any]


class Waits(errors.DriverError):
    """The move must wait; the message says what has to change."""


def is_due(current: amounts.Records, wanted: amounts.Amounts) -> bool:
    """Return True if allocations of VCPU may have to become PCPU.

    :param current: the host's inventory in placement
    """
    offers = wanted.known.keys() - wanted.unknown
    return (
        cpus.VCPU in current
        and cpus.PCPU not in current
        and cpus.PCPU in offers
    )


def consumers(allocations: Allocations, root: str, rc: str) -> dict[str, int]:
    """Return consumer → its amount of a class of the host's own provider."""
    return {
        consumer: amount
        for consumer, one in allocations.items()
        if (amount := _resources(one, root).get(rc, 0))
    }


def move(
    allocations: Allocations,
    root: str,
    known: Mapping[str, guests.Guest],
    sets: cpus.CpuSets,
    *,
    keeps_vcpu: bool,
) -> None:
    """Turn the VCPU of guests with pinned processors into PCPU, in place.

    :param known: the guests of the host, by uuid
    :param keeps_vcpu: the host offers VCPU beside PCPU
    :raises Waits: a consumer is no guest of the host, a guest is pinned to
        processors that are not dedicated, or a guest that is not pinned has no
        VCPU left
    """
    having = consumers(allocations, root, cpus.VCPU)
    pinned = {consumer: _pinned(consumer, known, sets) for consumer in having}
    floating = [c for c, amount in having.items() if pinned[c] < amount]
    if floating and not keeps_vcpu:
        raise Waits(
            f'PCPU is not reported yet: {_shown(floating)} without pinned '
            f'processors would have none; set {cpus.SHARED}, or move these '
            'guests to another host'
        )
    for consumer, amount in having.items():
        taken = min(pinned[consumer], amount)
        resources = _resources(allocations[consumer], root)
        if taken:
            resources[cpus.PCPU] = resources.get(cpus.PCPU, 0) + taken
            resources[cpus.VCPU] = amount - taken


def _pinned(
    consumer: str, known: Mapping[str, guests.Guest], sets: cpus.CpuSets
) -> int:
    guest = known.get(consumer)
    if guest is None:
        raise Waits(
            f'PCPU is not reported yet: consumer {consumer} has VCPU, and '
            'libvirt knows no such guest; it may be a migration or a resize '
            'that is not finished'
        )
    on = guest.pinned()
    outside = on - (sets.dedicated or frozenset())
    if outside:
        raise Waits(
            f'PCPU is not reported yet: guest {consumer} is pinned to '
            f'processors {cpusets.listed(outside)}, which are not in '
            f'{cpus.DEDICATED}: add them, or move the guest to another host'
        )
    return len(on)


def _shown(consumers: list[str]) -> str:
    first = min(consumers)
    more = len(consumers) - 1
    return f'guest {first}' + (f' and {more} more' if more else '')


def _resources(one: Mapping[str, Any], root: str) -> dict[str, int]:
    resources: dict[str, int] = (
        one['allocations'].get(root, {}).get('resources', {})
    )
    return resources
