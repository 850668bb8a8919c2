# SPDX-License-Identifier: Apache-2.0
"""A rule: a condition over facts, and the names that it gives.

Pure: no I/O, configuration, logging or clock. ``parse.py`` makes the values
and ``evaluate.py`` applies them.
"""

import dataclasses
from collections.abc import Mapping

from compute_agent.tree import names

from .language.expression import Expression
from .language.template import Template

# The families of devices that a rule can go through.
FAMILIES = ('pci', 'net', 'block', 'usb', 'gpu', 'mdev_type')
NODE = 'node'
LOCAL = 'local'
DEVICE = 'device'
NAME = 'name'

MARKER_PREFIX = 'RULE_'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A trait of a rule, with a condition of its own if it has one."""

    template: Template
    when: Expression | None = None

    @property
    def references(self) -> tuple[str, ...]:
        """The names of the facts that it reads."""
        own = () if self.when is None else self.when.references
        return (*self.template.references, *own)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    :ivar place: the file and line, as ``FILE:LINE``
    :ivar when: None if it always gives its names
    :ivar for_each: the family whose devices it goes through, or empty
    :ivar child: the name of the provider that it gives; None for the root
    :ivar inventory: resource class → field → number, or an expression
    """

    name: str
    place: str
    enabled: bool = True
    when: Expression | None = None
    for_each: str = ''
    child: Template | None = None
    traits: tuple[Trait, ...] = ()
    inventory: Mapping[str, Mapping[str, int | float | Expression]] = (
        dataclasses.field(default_factory=dict)
    )

    @property
    def references(self) -> tuple[str, ...]:
        """The names of the facts that it reads, those of ``when`` first."""
        parts: list[Expression | Template | Trait] = [*self.traits]
        if self.child is not None:
            parts.append(self.child)
        if self.when is not None:
            parts.insert(0, self.when)
        parts += [
            value
            for record in self.inventory.values()
            for value in record.values()
            if isinstance(value, Expression)
        ]
        found = (name for part in parts for name in part.references)
        return tuple(dict.fromkeys(name for name in found if name != NODE))

    @property
    def marker(self) -> str:
        """The trait of each child that it gives; it tells whose the child is."""
        return marker(self.name)


def marker(name: str) -> str:
    """Return the trait that marks the children of the rule of this name."""
    return names.custom_name(f'{MARKER_PREFIX}{name}')


def is_marker(trait: str) -> bool:
    """Return True for a trait that marks the child of a rule."""
    return trait.startswith(f'{names.CUSTOM_PREFIX}{MARKER_PREFIX}')
