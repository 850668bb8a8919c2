# SPDX-License-Identifier: Apache-2.0
"""Put what rules give into a node's tree.

Pure: no I/O, configuration, logging or clock. Traits of several rules are united. The
devices of one rule that give the same child are pooled: their amounts are added.
Two rules that give one child another amount of the same class contradict each
other, and that class stays as it is; so does one whose sum is too large.

The traits of the root and of the children are declared, so names of others
stay. If a rule is unknown, everything that it gave before stays: its traits
that the provider has, its classes, its children. Each child has a trait for
each rule that gives it (``CUSTOM_RULE_NAME``), so a child of a rule that is
gone is found and removed, with or without the agent's own record. By the same
trait the agent knows a child that a rule gave before, if now not all children
of the rule can be named. While a file of rules is left out, it may have
switched any rule off, so only rules that gave a child before change children,
and they only add.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

from compute_agent.tree import inventory, provider_tree

from . import rule as rule_module
from .rule import Gift, Outcome, Rule, Verdict

#: Each child costs nova-compute a request in each of its cycles.
MANY_CHILDREN = 32

_ADDED = ('total', 'reserved')


@dataclasses.dataclass(slots=True)
class Provider:
    """The names and amounts that rules give to the root, or to one child.

    :ivar rules: the names of the rules that give it
    :ivar classes: resource class → its record, and the rule that gives it
    :ivar undecided: the classes that two rules give in different amounts, and
        classes whose sum over the devices is too large
    :ivar unknown: the rules that may give this child, or may give it more
    """

    rules: dict[str, Rule] = dataclasses.field(default_factory=dict)
    traits: set[str] = dataclasses.field(default_factory=set)
    unknown_traits: set[str] = dataclasses.field(default_factory=set)
    classes: dict[str, tuple[inventory.Record, Rule]] = dataclasses.field(
        default_factory=dict
    )
    undecided: set[str] = dataclasses.field(default_factory=set)
    unknown: list[Rule] = dataclasses.field(default_factory=list)

    @property
    def patterns(self) -> list[re.Pattern[str]]:
        """Patterns of the traits that rules with an unknown result may add."""
        return [
            t.template.pattern() for rule in self.unknown for t in rule.traits
        ]

    @property
    def unknown_classes(self) -> set[str]:
        """The classes that stay as they are, because a rule is unknown."""
        found = {rc for rule in self.unknown for rc in rule.inventory}
        return found | self.undecided


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
    """Add a device's gift to the other gifts of its rule to the same child."""
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
        if record['total'] > inventory.MAX_INT:
            provider.undecided.add(rc)
            faults.append(
                f'{gift.child}: the devices of rule {rule.name} ({rule.place}) '
                f'give it {record["total"]} of {rc} together, and placement '
                f'takes at most {inventory.MAX_INT}, so the class stays as it '
                'is; pool fewer devices under one name'
            )
        elif earlier is None:
            provider.classes[rc] = (record, rule)
        elif earlier[0] != record:
            provider.undecided.add(rc)
            faults.append(
                f'{gift.child}: the rules {earlier[1].name} '
                f'({earlier[1].place}) and {rule.name} ({rule.place}) give it '
                f'different amounts of {rc}, which stays as it is; change one '
                'of them, or give the children other names'
            )


Tree = provider_tree.ProviderTree
Data = provider_tree.ProviderData

#: The fields that the rule decides. The ratio is the operators' if the rule
# gives none.
_FIELDS = ('total', 'reserved', 'min_unit', 'max_unit', 'step_size')
_OWNER = 'OWNER_'


def place(
    tree: Tree, root: str, outcomes: Iterable[Outcome], unread: str = ''
) -> None:
    """Edit the tree until it has what the rules give.

    :param root: the name or uuid of the root provider
    :param unread: why a rule file cannot be used. Then nothing that rules gave
        before is removed. Empty if all rules are there
    """
    data = tree.data(root)
    below = [tree.data(uuid) for uuid in tree.get_provider_uuids(data.uuid)]
    before = {child.name: child for child in below[1:]}
    if unread:
        outcomes = _given_before(outcomes, data, before.values())
    given = collect(outcomes)
    _doubt(given, before)
    tree.declare_traits(data.uuid, *_traits(given.root, data))
    if unread:
        tree.keep_traits(data.uuid)
    for name, child in sorted(given.children.items()):
        _place(tree, data.uuid, name, child, before.get(name))
        if unread and name in before and _is_ours(before[name], data.uuid):
            _only_add(tree, name, before[name])
    _remove(tree, data.uuid, given, before, unread)
    for fault in given.faults:
        tree.fault(fault)
    _note(tree, given, unread)


def _given_before(
    outcomes: Iterable[Outcome], root: Data, children: Iterable[Data]
) -> Iterator[Outcome]:
    """Yield the outcomes, reduced to what their rules gave before.

    A child's marker proves that its rule gave something. The root has no
    markers, so it gets no trait that it does not have.
    """
    proven = set().union(*(child.traits for child in children))
    for outcome in outcomes:
        gift = outcome.gift
        if gift is not None and not gift.child:
            has = gift.traits & root.traits
            gift = dataclasses.replace(gift, traits=frozenset(has))
            yield dataclasses.replace(outcome, gift=gift)
        elif gift is None or outcome.rule.marker in proven:
            yield outcome


def _doubt(given: Providers, before: Mapping[str, Data]) -> None:
    """Count a rule as unknown for the children that carry its mark.

    The marker of a rule tells that it gave the child before.
    """
    for name, child in given.children.items():
        if name in before:
            child.unknown += [
                rule
                for rule in given.unknown_rules
                if rule.marker in before[name].traits
            ]


def _traits(given: Provider, before: Data | None) -> set[str]:
    """Return the traits that rules give, and those they may give and it has."""
    kept = set()
    if before is not None:
        patterns = given.patterns
        kept = {
            trait
            for trait in before.traits
            if trait in given.unknown_traits
            or any(pattern.fullmatch(trait) for pattern in patterns)
        }
    return given.traits | kept


def _place(
    tree: Tree, root: str, name: str, given: Provider, before: Data | None
) -> None:
    """Add or change a child; if no rule surely gives it, leave it as it is."""
    if not given.rules:
        return
    if before is not None and not _is_ours(before, root):
        tree.note(
            f'{name}: left as it is, because another writer made this '
            f'provider; give the child of {_names(given)} another name'
        )
        return
    if before is None:
        tree.new_child(name, root)
    markers = {rule.marker for rule in given.rules.values()}
    if before is not None:
        unknown = {rule.marker for rule in given.unknown}
        markers |= unknown & set(before.traits)
    records = inventory.as_given(_records(given, before))
    tree.update_inventory(name, records)
    tree.declare_traits(name, *_traits(given, before), *markers)


def _records(
    given: Provider, before: Data | None
) -> dict[str, Mapping[str, int | float]]:
    """Return the inventory; an unknown class stays as it is."""
    records: dict[str, Mapping[str, int | float]] = {
        rc: record for rc, (record, _) in given.classes.items()
    }
    current = {} if before is None else before.inventory
    for rc in given.unknown_classes:
        records.pop(rc, None)
        if rc in current:
            records[rc] = _as_it_is(current[rc])
    return records


def _as_it_is(record: inventory.Record) -> dict[str, int | float]:
    """Return the fields of a record that rules decide."""
    return {field: record[field] for field in _FIELDS if field in record}


def _only_add(tree: Tree, name: str, before: Data) -> None:
    """Restore what a child lost, and each total that became smaller."""
    records = dict(tree.data(name).inventory)
    for rc, record in before.inventory.items():
        if rc not in records or records[rc]['total'] < record['total']:
            records[rc] = _as_it_is(record)
    tree.update_inventory(name, inventory.as_given(records))
    tree.keep_traits(name)


def _remove(
    tree: Tree,
    root: str,
    given: Providers,
    before: Mapping[str, Data],
    unread: str,
) -> None:
    """Remove the children that no rule gives any more.

    A child that another writer renamed is known by its uuid, while its rule is
    unknown.
    """
    unknown = {rule.marker for rule in given.unknown_rules}
    doubtful = {
        provider_tree.derived_uuid(root, name)
        for name, child in given.children.items()
        if child.unknown
    }
    for name, data in before.items():
        markers = {t for t in data.traits if rule_module.is_marker(t)}
        surely_gone = not (
            unread or markers & unknown or data.uuid in doubtful
        )
        if markers and name not in given.children and surely_gone:
            tree.remove(data.uuid)


def _is_ours(data: Data, root: str) -> bool:
    """Return True for a child of a rule, also if the agent died making it."""
    derived = provider_tree.derived_uuid(root, data.name)
    is_empty = not data.traits and not data.inventory
    return any(rule_module.is_marker(trait) for trait in data.traits) or (
        is_empty and data.uuid == derived
    )


def _note(tree: Tree, given: Providers, unread: str) -> None:
    if unread:
        tree.note(
            f'rules are missing ({unread}), so nothing that rules gave before '
            'is removed'
        )
    count = sum(1 for child in given.children.values() if child.rules)
    if count > MANY_CHILDREN:
        tree.note(
            f'the rules give more than {MANY_CHILDREN} children, and each '
            'costs nova-compute a request in each of its cycles; let rules '
            f'match fewer devices, or pool them under one name: {_most(given)}'
        )


def _most(given: Providers) -> str:
    """Return the rules that give most children."""
    counts: dict[str, int] = {}
    for child in given.children.values():
        for name in child.rules:
            counts[name] = counts.get(name, 0) + 1
    most = sorted(counts, key=lambda name: (-counts[name], name))
    return ', '.join(most[:3])


def _names(given: Provider) -> str:
    return ', '.join(f'rule {name}' for name in given.rules)
