# SPDX-License-Identifier: Apache-2.0
"""The root and the children that all rules together give.

Pure: no I/O, configuration, logging or clock. Traits of several rules are
united. The devices of one rule that give the same child are pooled: their
amounts are added. Two rules that give one child another amount of the same
class contradict each other, and that class stays as it is. ``placing.py`` puts
the result into the tree.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping

from compute_agent.tree import inventory

from .outcome import Gift, Outcome, Verdict
from .rule import Rule

#: Each child costs nova-compute a request in each of its cycles.
MANY_CHILDREN = 32

_ADDED = ('total', 'reserved')


@dataclasses.dataclass(slots=True)
class Provider:
    """The names and amounts that rules give to the root, or to one child.

    :ivar rules: the names of the rules that give it
    :ivar classes: resource class → its record, and the rule that gives it
    :ivar contradicted: the classes that two rules give differently
    :ivar unknown: the rules that may give it, or more to it
    """

    rules: dict[str, Rule] = dataclasses.field(default_factory=dict)
    traits: set[str] = dataclasses.field(default_factory=set)
    unknown_traits: set[str] = dataclasses.field(default_factory=set)
    classes: dict[str, tuple[inventory.Record, Rule]] = dataclasses.field(
        default_factory=dict
    )
    contradicted: set[str] = dataclasses.field(default_factory=set)
    unknown: list[Rule] = dataclasses.field(default_factory=list)

    @property
    def patterns(self) -> list[re.Pattern[str]]:
        """The traits that rules which are unknown may give."""
        return [
            t.template.pattern() for rule in self.unknown for t in rule.traits
        ]

    @property
    def unknown_classes(self) -> set[str]:
        """The classes that stay as they are."""
        found = {rc for rule in self.unknown for rc in rule.inventory}
        return found | self.contradicted


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """All that rules give to one node.

    :ivar unknown_rules: the rules whose children cannot all be named
    """

    root: Provider
    children: Mapping[str, Provider]
    unknown_rules: tuple[Rule, ...]
    faults: tuple[str, ...]


def collect(outcomes: Iterable[Outcome]) -> Providers:
    """Return the root and the children that these outcomes give."""
    root = Provider()
    children: dict[str, Provider] = {}
    unknown_rules: dict[str, Rule] = {}
    pooled: dict[tuple[str, str], tuple[Rule, Gift]] = {}
    for outcome in outcomes:
        rule = outcome.rule
        if outcome.verdict is Verdict.UNKNOWN:
            if rule.child is None:
                root.unknown.append(rule)
            elif outcome.child:
                child = children.setdefault(outcome.child, Provider())
                child.unknown.append(rule)
            else:
                unknown_rules[rule.name] = rule
        elif outcome.gift is not None:
            _pool(pooled, rule, outcome.gift)
    faults: list[str] = []
    for rule, gift in pooled.values():
        provider = children.setdefault(gift.child, Provider())
        _give(root if not gift.child else provider, rule, gift, faults)
    children.pop('', None)
    return Providers(
        root=root,
        children=children,
        unknown_rules=tuple(unknown_rules.values()),
        faults=tuple(faults),
    )


def _pool(
    pooled: dict[tuple[str, str], tuple[Rule, Gift]], rule: Rule, gift: Gift
) -> None:
    """Add a device's gift to those that its rule gives to the same child."""
    key = (rule.name, gift.child)
    if key not in pooled:
        pooled[key] = (rule, gift)
        return
    _, before = pooled[key]
    records = {
        rc: _sum(before.inventory.get(rc), gift.inventory.get(rc))
        for rc in {**before.inventory, **gift.inventory}
    }
    pooled[key] = (
        rule,
        Gift(
            child=gift.child,
            traits=before.traits | gift.traits,
            unknown={**before.unknown, **gift.unknown},
            inventory=records,
        ),
    )


def _sum(
    one: inventory.Record | None, other: inventory.Record | None
) -> inventory.Record:
    if one is None or other is None:
        return one or other or {}
    added = {
        field: one.get(field, 0) + other.get(field, 0)
        for field in _ADDED
        if field in one or field in other
    }
    return {**one, **other, **added}


def _give(
    provider: Provider, rule: Rule, gift: Gift, faults: list[str]
) -> None:
    provider.rules[rule.name] = rule
    provider.traits |= gift.traits
    provider.unknown_traits |= gift.unknown.keys()
    for rc, record in gift.inventory.items():
        earlier = provider.classes.get(rc)
        if earlier is None:
            provider.classes[rc] = (record, rule)
        elif earlier[0] != record:
            provider.contradicted.add(rc)
            faults.append(
                f'{gift.child}: the rules {earlier[1].name} '
                f'({earlier[1].place}) and {rule.name} ({rule.place}) give it '
                f'different amounts of {rc}, which stays as it is; change one '
                'of them, or give the children other names'
            )
