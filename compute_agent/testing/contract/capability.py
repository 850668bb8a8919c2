# SPDX-License-Identifier: Apache-2.0
"""The capabilities of drivers: each is the condition of some rules.

A driver's methods show most capabilities. The author declares the others.
"""

import enum
from collections.abc import Collection

from ...virt import driver as virt


class Capability(enum.Enum):
    """A part of the contract that not every driver has."""

    SEVERAL_NODES = 'several nodes'
    FACTS = 'facts'
    CHANGES = 'changes'
    EVIDENCE = 'evidence'
    EVENTS = 'events'
    AUTHORITY = 'authority'
    OPTIONS = 'options'
    COMPLETE_LISTS = 'complete lists'
    RESHAPE = 'reshape'


MEANINGS = {
    Capability.SEVERAL_NODES: 'The driver may describe more than one node.',
    Capability.FACTS: 'It overrides `facts`.',
    Capability.CHANGES: 'It overrides `changes`.',
    Capability.EVIDENCE: 'It has the method `evidence`.',
    Capability.EVENTS: 'It overrides `subscribe`.',
    Capability.AUTHORITY: 'It overrides `authority`.',
    Capability.OPTIONS: 'It overrides `register_opts`.',
    Capability.COMPLETE_LISTS: (
        'It gives complete lists (`update_traits`, `update_aggregates`): the '
        'names of other writers go from the providers that it describes.'
    ),
    Capability.RESHAPE: 'It may raise `ReshapeNeeded`.',
}

METHODS = {
    'facts': Capability.FACTS,
    'changes': Capability.CHANGES,
    'subscribe': Capability.EVENTS,
    'authority': Capability.AUTHORITY,
    'register_opts': Capability.OPTIONS,
}


def shown_by(driver_class: type[virt.ComputeDriver]) -> set[Capability]:
    """Return the capabilities that the methods of a driver show."""
    shown = {
        capability
        for method, capability in METHODS.items()
        if _overrides(driver_class, method)
    }
    if hasattr(driver_class, 'evidence'):
        shown.add(Capability.EVIDENCE)
    return shown


def missing(
    declared: Collection[Capability], driver_class: type[virt.ComputeDriver]
) -> list[Capability]:
    """Return the declared capabilities whose methods the driver lacks."""
    can_be_seen = {*METHODS.values(), Capability.EVIDENCE}
    unseen = can_be_seen & set(declared) - shown_by(driver_class)
    return sorted(unseen, key=lambda one: one.value)


def _overrides(driver_class: type[virt.ComputeDriver], name: str) -> bool:
    """Return True if the driver has another method than the contract's."""

    def plain(owner: type) -> object:
        found = getattr(owner, name)
        return getattr(found, '__func__', found)

    return plain(driver_class) is not plain(virt.ComputeDriver)
