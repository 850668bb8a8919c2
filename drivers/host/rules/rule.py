# SPDX-License-Identifier: Apache-2.0
"""A rule: a condition over facts, the names that it gives, and its outcome.

Pure: no I/O, configuration, logging or clock. ``parse.py`` makes the rules with the
names of a ``Vocabulary``, which are known before any host is read, so a misspelt
one is a mistake of the file. ``evaluate.py`` makes the outcomes; ``placing.py``
and ``findings.py`` read them.
"""

import dataclasses
import enum
import typing
from collections.abc import Collection, Iterable, Mapping

from compute_agent.tree import inventory as inventory_module
from compute_agent.tree import names

from ..facts.fact import Fact
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
        """The trait that marks each child of the rule as the rule's."""
        return marker(self.name)


def marker(name: str) -> str:
    """Return the trait that marks the children of the rule of this name."""
    return names.custom_name(f'{MARKER_PREFIX}{name}')


def is_marker(trait: str) -> bool:
    """Return True for a trait that marks the child of a rule."""
    return trait.startswith(f'{names.CUSTOM_PREFIX}{MARKER_PREFIX}')


class Verdict(enum.Enum):
    """The result of a rule's condition."""

    GIVES = 'gives'
    DOES_NOT = 'does not give'
    UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gift:
    """The names that a rule gives to one provider.

    :ivar child: the name of the child; empty for the root
    :ivar absent: traits whose own condition is false
    :ivar unknown: traits whose own condition is unknown → why
    """

    child: str = ''
    traits: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    unknown: Mapping[str, str] = dataclasses.field(default_factory=dict)
    inventory: Mapping[str, inventory_module.Record] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one rule, for the host or for one device.

    :ivar device: the device's name; empty for a rule about the host, and if
        the devices cannot be listed
    :ivar gift: what the rule gives, if the verdict is ``GIVES``
    :ivar child: the child's name as far as it is known, also if the verdict
        is not ``GIVES``
    :ivar reason: why the verdict is ``UNKNOWN``
    :ivar facts: the facts that the rule read
    """

    rule: Rule
    verdict: Verdict
    device: str = ''
    gift: Gift | None = None
    child: str = ''
    reason: str = ''
    facts: tuple[Fact, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names of facts, and of the attributes of each family of devices."""

    facts: frozenset[str]
    attributes: Mapping[str, frozenset[str]]

    @classmethod
    def of_names(cls, names: Iterable[str]) -> typing.Self:
        """Return the vocabulary of these names of facts, devices' included."""
        attributes: dict[str, set[str]] = {
            family: set() for family in FAMILIES
        }
        facts: set[str] = set()
        for name in names:
            family, _, attribute = name.partition('.')
            if family in attributes:
                attributes[family].add(attribute)
            else:
                facts.add(name)
        return cls(
            facts=frozenset(facts),
            attributes={f: frozenset(n) for f, n in attributes.items()},
        )

    def names(self, for_each: str = '') -> Collection[str]:
        """Return the names for a rule: facts, lists of devices, the device."""
        known = {*self.facts, *self.attributes, NODE}
        if for_each:
            of_family = {NAME, *self.attributes.get(for_each, ())}
            known |= {f'{DEVICE}.{name}' for name in of_family}
        return frozenset(known)
