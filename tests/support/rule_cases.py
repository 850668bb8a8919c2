# SPDX-License-Identifier: Apache-2.0
"""Cases of rules as data: facts and rules, and the providers they give.

A case is a folder with ``facts.yaml``, ``rules.yaml`` and ``expected.yaml``;
``before.yaml`` has the children and root traits that placement has. Facts are
``name: value``; one under ``unknown`` has its reason instead of a value.
"""

import pathlib
import typing

import yaml

from compute_agent.tree import provider_tree
from drivers.host import rule_files
from drivers.host.facts import fact
from drivers.host.rules import evaluate, placing, rule
from drivers.host.rules.rule import Outcome

ROOT_UUID = '11111111-1111-4111-8111-111111111111'
NODE = 'cn1'


def load(path: pathlib.Path) -> typing.Any:
    """Return a YAML file's content; empty if there is none."""
    return yaml.safe_load(path.read_text()) if path.exists() else {}


def frozen(value: typing.Any) -> fact.Value:
    """Return plain data with tuples in place of lists."""
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    plain: fact.Value = value
    return plain


def facts_of(data: typing.Any) -> fact.Facts:
    """Return the facts that a case's data describes."""
    unknown = data.get('unknown', {})
    listed: dict[str, tuple[fact.Device, ...] | fact.Fact] = {
        family: tuple(
            device(family, name, attributes)
            for name, attributes in devices.items()
        )
        for family, devices in data.get('devices', {}).items()
    }
    for family in fact.DEVICE_FAMILIES:
        if family in unknown:
            listed[family] = fact.Fact(
                name=f'{family}.list',
                value=None,
                source='case',
                unknown=unknown[family],
            )
    return fact.Facts(
        facts={
            **{n: one(n, v) for n, v in data.get('facts', {}).items()},
            **{
                name: one(name, None, why)
                for name, why in unknown.items()
                if '.' in name
            },
        },
        devices=listed,
    )


def one(name: str, value: typing.Any, unknown: str = '') -> fact.Fact:
    """Return one fact."""
    return fact.Fact(
        name=name, value=frozen(value), source='case', unknown=unknown
    )


def device(family: str, name: str, attributes: typing.Any) -> fact.Device:
    """Return one device; ``unknown`` has the attributes that are unknown."""
    unknown = attributes.get('unknown', {})
    known = {n: v for n, v in attributes.items() if n != 'unknown'}
    return fact.Device(
        family=family,
        name=name,
        facts={
            **{n: one(f'{family}.{n}', v) for n, v in known.items()},
            **{n: one(f'{family}.{n}', None, w) for n, w in unknown.items()},
        },
    )


def outcomes(
    facts: fact.Facts, rules: rule_files.RuleSet, words: rule.Vocabulary
) -> list[Outcome]:
    """Return the outcomes of rules on a host, with a clock that stands."""
    run = evaluate.Evaluation(facts, words, NODE, lambda: 0.0)
    return list(run.outcomes(rules.rules))


def words_of(facts: fact.Facts) -> rule.Vocabulary:
    """Return the names of a host's facts; local ones have no vocabulary."""
    listed = [d for d in facts.devices.values() if isinstance(d, tuple)]
    return rule.Vocabulary.of_names(
        {
            *(name for name in facts.facts if not name.startswith('local.')),
            *(
                f.name
                for group in listed
                for d in group
                for f in d.facts.values()
            ),
        }
    )


def tree_of(before: typing.Any) -> provider_tree.ProviderTree:
    """Return the tree that placement has."""
    tree = provider_tree.ProviderTree()
    tree.new_root(NODE, ROOT_UUID, generation=1)
    tree.add_traits(NODE, *before.get('traits', ()))
    for name, child in before.get('children', {}).items():
        tree.new_child(name, NODE, uuid=child.get('uuid'), generation=1)
        tree.update_inventory(name, child.get('inventory', {}))
        tree.add_traits(name, *child.get('traits', ()))
    return tree


def placed(
    found: list[Outcome], before: typing.Any, unread: str = ''
) -> provider_tree.ProviderTree:
    """Return the tree with what the outcomes give."""
    tree = tree_of(before)
    placing.place(tree, NODE, found, unread)
    return tree


def described(tree: provider_tree.ProviderTree) -> dict[str, typing.Any]:
    """Return a tree in the form of ``expected.yaml``."""
    root, *children = [tree.data(u) for u in tree.get_provider_uuids()]
    found: dict[str, typing.Any] = {
        'traits': sorted(root.traits),
        'children': {
            child.name: {
                'traits': sorted(child.traits),
                'inventory': {
                    rc: {
                        field: record[field]
                        for field in ('total', 'reserved')
                        if record.get(field)
                    }
                    for rc, record in child.inventory.items()
                },
            }
            for child in children
        },
    }
    if tree.notes:
        found['notes'] = tree.notes
    if tree.faults:
        found['faults'] = tree.faults
    return found
