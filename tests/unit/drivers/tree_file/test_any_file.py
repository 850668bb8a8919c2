# SPDX-License-Identifier: Apache-2.0
"""Whatever valid file is written, the tree becomes it, and stays it."""

import uuid

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent import yaml_file
from compute_agent.tree import inventory, provider_tree
from drivers.tree_file import describe, tree_file

SHARES = 'MISC_SHARES_VIA_AGGREGATE'

uuids = st.uuids().map(str)
# No line breaks of Unicode's or controls: PyYAML does not write them back.
letters = st.characters(codec='utf-8', exclude_categories=['C', 'Zl', 'Zp'])
symbols = st.from_regex(r'[A-Z0-9_]{1,12}', fullmatch=True)
counts = st.integers(1, inventory.MAX_INT)
# Of each record, something can be allocated.
records = counts.flatmap(
    lambda total: st.fixed_dictionaries(
        {'total': st.just(total)},
        optional={
            'reserved': st.just(0),
            'min_unit': st.just(1),
            'max_unit': counts,
            'step_size': st.integers(1, total),
            'allocation_ratio': st.floats(0.001, 1000),
        },
    )
)


def shapes(children):
    """Return providers without names, which are given out afterwards."""
    return st.fixed_dictionaries(
        {'name': st.text(letters, max_size=5)},
        optional={
            'uuid': st.none(),
            'inventories': st.dictionaries(symbols, records | counts)
            | st.just('keep'),
            'traits': st.lists(symbols, max_size=4) | st.just('keep'),
            'aggregates': st.lists(uuids, max_size=3) | st.just('keep'),
            'exclusive': st.booleans(),
            **children,
        },
    )


branches = st.recursive(
    shapes({}),
    lambda below: shapes(
        {
            'children': st.lists(below, max_size=3),
            'foreign_children': st.sampled_from(['leave', 'remove']),
        }
    ),
    max_leaves=12,
)


@st.composite
def files(draw):
    """Return a file's data; a number makes each name its own."""
    data = {
        'nodes': draw(st.lists(branches, max_size=3)),
        'sharing_providers': draw(st.lists(shapes({}), max_size=3)),
    }
    waiting = [*data['nodes'], *data['sharing_providers']]
    numbers = iter(range(1000))
    while waiting:
        one = waiting.pop()
        one['name'] += f'{next(numbers):04}'  # '1' and '10' stay two
        if 'uuid' in one:
            one['uuid'] = str(uuid.uuid5(uuid.NAMESPACE_DNS, one['name']))
        waiting.extend(one.get('children', ()))
    return data


def parsed(data):
    text = yaml.safe_dump(data, allow_unicode=True)
    return tree_file.parse(yaml_file.parse(text, 'f.yaml', tree_file.SCHEMA))


def described(file, nodename):
    tree = provider_tree.ProviderTree()
    tree.new_root(nodename, file.nodes[nodename].root_uuid)
    describe.describe(tree, file, nodename)
    return tree


def written(tree, name):
    """Return one provider of the tree as the file would have it."""
    data = tree.data(name)
    above = tree.data(data.parent_uuid).name if data.parent_uuid else None
    return (
        above,
        {rc: one(record) for rc, record in data.inventory.items()},
        data.traits,
        data.aggregates,
    )


def one(record):
    record = record if isinstance(record, dict) else {'total': record}
    return inventory.Inventory.from_record(record)


def wanted(data, above, *more):
    """Yield each provider of the data with what it should have."""

    def given_names(key):
        names = data.get(key, ())
        return () if names == 'keep' else names

    inventories = given_names('inventories') or {}
    yield (
        data['name'],
        (
            above,
            {rc: one(record) for rc, record in inventories.items()},
            {*given_names('traits'), *more},
            set(given_names('aggregates')),
        ),
    )
    for child in data.get('children', ()):
        yield from wanted(child, data['name'])


@given(files())
@settings(deadline=None)
def test_the_tree_of_each_node_is_what_the_file_says(data):
    file = parsed(data)
    for i, node in enumerate(data['nodes']):
        expected = dict(wanted(node, None))
        for sharer in data['sharing_providers'] if i == 0 else ():
            expected.update(wanted(sharer, None, SHARES))
        tree = described(file, node['name'])
        every = [tree.data(u) for u in tree.get_provider_uuids()]
        assert {d.name: written(tree, d.name) for d in every} == expected
        for d in every:
            assert d.uuid == given_uuid(data, d.name, d.uuid)


def given_uuid(data, name, otherwise):
    waiting = [*data['nodes'], *data['sharing_providers']]
    while waiting:
        one = waiting.pop()
        if one['name'] == name:
            return one.get('uuid', otherwise)
        waiting.extend(one.get('children', ()))
    raise AssertionError(name)


@given(files())
@settings(deadline=None)
def test_to_describe_again_says_the_same_and_changes_nothing(data):
    file = parsed(data)
    for name in file.nodes:
        tree = described(file, name)
        before = [tree.data(u) for u in tree.get_provider_uuids()]
        asserted = dict(tree.assertions)
        tree.assertions.clear()
        describe.describe(tree, file, name)
        assert [tree.data(u) for u in tree.get_provider_uuids()] == before
        assert tree.assertions == asserted
