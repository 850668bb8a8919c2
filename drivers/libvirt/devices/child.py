# SPDX-License-Identifier: Apache-2.0
"""A child provider as the host's devices give it, and what is unknown.

Pure: no I/O, configuration, logging or clock. The traits of a child are
findings, so that each has its evidence. ``placing.py`` turns these values into
edits of the provider tree.
"""

import dataclasses
import enum
from collections.abc import Mapping

from compute_agent.tree import inventory
from compute_agent.virt.values import finding

Records = Mapping[str, inventory.Record]


class Kind(enum.Enum):
    """The kinds of child providers; the value is for messages."""

    MDEV = 'mediated devices'
    PCI = 'PCI devices'
    MEMORY_ENCRYPTION = 'contexts of encrypted guests'
    NUMA = 'NUMA nodes'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The reason why nothing may be scheduled to a device now.

    :ivar trait: the trait that marks the provider in placement meanwhile
    :ivar reason: the reason for the operator, without changing numbers
    """

    trait: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One child provider.

    :ivar inventory: the complete inventory; None to leave the amounts as
        placement has them
    :ivar findings: the traits that the driver decides on it, with evidence
    :ivar trouble: not None: the whole inventory is reserved
    :ivar unread: the traits of troubles that could not be looked for; a child
        with such a trait stays as placement has it
    :ivar reserved: True: the whole inventory is reserved, because the device
        may be used once and has been
    :ivar operators_reserve: True: a reserved amount that an operator set stays
    """

    name: str
    kind: Kind
    inventory: Records | None
    findings: tuple[finding.Finding, ...]
    trouble: Trouble | None = None
    unread: frozenset[str] = frozenset()
    reserved: bool = False
    operators_reserve: bool = False

    def evidence(self) -> tuple[finding.Finding, ...]:
        """Return all findings, with the one of the mark of a trouble."""
        if self.trouble is None:
            return self.findings
        mark = finding.Finding(
            trait=self.trouble.trait,
            found=finding.Found.PRESENT,
            fact=self.trouble.reason,
            sources=('kernel',),
            provider=self.name,
        )
        return (*self.findings, mark)

    def traits(self, answer: finding.Found) -> frozenset[str]:
        """Return the traits that were found so."""
        return frozenset(
            f.trait for f in self.findings if f.trait and f.found is answer
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Children:
    """The child providers of a host, as far as they are known.

    :ivar known: the children
    :ivar unknown: the name of a child that is unknown now → the reason; it
        stays as placement has it. An empty reason means that another line
        tells the reason
    :ivar unknown_kinds: the same for all children of a kind
    :ivar unlikely: the children in ``unknown`` that the host probably lacks. A
        line about such a child is printed only if placement has it
    :ivar notes: lines for the operator
    :ivar faults: lines that say why the node is not as it should be
    """

    known: tuple[Child, ...] = ()
    unknown: Mapping[str, str] = dataclasses.field(default_factory=dict)
    unknown_kinds: Mapping[Kind, str] = dataclasses.field(default_factory=dict)
    unlikely: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def __add__(self, other: 'Children') -> 'Children':
        """Return both together."""
        return Children(
            known=(*self.known, *other.known),
            unknown={**self.unknown, **other.unknown},
            unknown_kinds={**self.unknown_kinds, **other.unknown_kinds},
            unlikely=self.unlikely | other.unlikely,
            notes=(*self.notes, *other.notes),
            faults=(*self.faults, *other.faults),
        )

    def findings(self) -> list[finding.Finding]:
        """Return the findings of all children, one for each unknown child."""
        unknown = [
            finding.Finding(
                trait=None,
                found=finding.Found.UNKNOWN,
                fact=f'left as it is, because {reason}',
                reason=reason,
                provider=name,
            )
            for name, reason in self.unknown.items()
            if reason and name not in self.unlikely
        ]
        return [f for child in self.known for f in child.evidence()] + unknown
