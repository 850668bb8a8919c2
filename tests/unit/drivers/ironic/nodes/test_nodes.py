# SPDX-License-Identifier: Apache-2.0
"""Every node of ``tests/nodes`` is described as its file says.

Keys: ``node`` is a row of Ironic's API, ``variants`` what else is tried of it,
with the same end; ``listing`` the resource classes of other nodes, ``options``
those of ``describe.Manner``, ``placement`` what it has of the node before.
``expect``: whether there is a ``provider`` afterwards, its ``inventory`` and
``traits``, ``reserved_because``, and parts of the one ``note`` or ``fault``.
"""

import json
import pathlib

import pytest

from compute_agent.tree import assertion, inventory, provider, provider_tree
from drivers.ironic.nodes import describe, node
from drivers.ironic.nodes import node as ironic_inventory

NODES = pathlib.Path(__file__).parents[4] / 'nodes'


def cases():
    for path in sorted(NODES.glob('*.json')):
        case = json.loads(path.read_text('utf-8'))
        for i, variant in enumerate(case.get('variants', [{}])):
            row = {**case['node'], **variant}
            yield pytest.param(case, row, id=f'{path.stem}-{i}')


CASES = list(cases())


def those(key):
    """Return the cases whose file expects something of that name."""
    return [c for c in CASES if c.values[0]['expect'].get(key)]


def baseline(case, uuid):
    there = case.get('placement')
    if there is None:
        return []
    records = there['inventories'].items()
    return [
        provider.Provider(
            uuid=uuid,
            name=uuid,
            generation=3,
            inventories={
                rc: inventory.Inventory.from_record(r) for rc, r in records
            },
            traits=frozenset(there['traits']),
        )
    ]


def described(case, row, providers):
    """Return the tree after the driver's part of a cycle, and the node."""
    one = node.Node.from_row(row)
    tree = provider_tree.ProviderTree.from_providers(providers)
    if not providers:
        tree.new_root(one.ident, one.uuid)
    listing = [one.resource_class, *case.get('listing', ())]
    manner = describe.Manner(**case.get('options', {}))
    describe.describe(tree, one, describe.problems(listing), manner)
    return tree, one


@pytest.mark.parametrize(('case', 'row'), CASES)
def test_a_node_is_described_as_its_file_says(case, row):
    expect = case['expect']
    uuid = node.Node.from_row(row).uuid
    tree, _ = described(case, row, baseline(case, uuid))
    assert tree.exists(uuid) is expect['provider']
    if expect['provider']:
        data = tree.data(uuid)
        assert data.inventory == expect['inventory']
        assert sorted(data.traits) == expect['traits']


@pytest.mark.parametrize(('case', 'row'), CASES)
def test_the_operator_is_told_what_the_file_says(case, row):
    uuid = node.Node.from_row(row).uuid
    tree, _ = described(case, row, baseline(case, uuid))
    assert all(line.isprintable() for line in (*tree.notes, *tree.faults))
    for kind, lines in (('note', tree.notes), ('fault', tree.faults)):
        parts = case['expect'].get(kind)
        assert len(lines) == (parts is not None), lines
        for part in parts or ():
            assert part in lines[0]


@pytest.mark.parametrize(
    ('case', 'row'),
    [c for c in CASES if 'reserved_because' in c.values[0]['expect']],
)
def test_it_is_reserved_for_the_reason_in_the_file(case, row):
    reason = case['expect']['reserved_because']
    skip = case.get('options', {}).get('skip_in_use', False)
    one = node.Node.from_row(row)
    said = ironic_inventory.why_reserved(one, skip_in_use=skip)
    assert said == (reason and reason.format(**row))


@pytest.mark.parametrize(('case', 'row'), those('provider'))
def test_a_second_cycle_describes_the_same(case, row):
    uuid = node.Node.from_row(row).uuid
    first, _ = described(case, row, baseline(case, uuid))
    data = first.data(uuid)
    there = {'inventories': data.inventory, 'traits': data.traits}
    again = {**case, 'placement': there}
    second, _ = described(again, row, baseline(again, uuid))
    assert second.data(uuid).inventory == data.inventory
    assert second.data(uuid).traits == data.traits
    assert second.faults == first.faults


@pytest.mark.parametrize(('case', 'row'), those('provider'))
def test_traits_are_asserted_as_the_whole_set_or_beside_others(case, row):
    uuid = node.Node.from_row(row).uuid
    tree, one = described(case, row, baseline(case, uuid))
    said = tree.assertions[uuid, assertion.Kind.TRAIT][assertion.DRIVER]
    exclusive = case.get('options', {}).get('exclusive', True)
    assert said.exclusive is exclusive
    assert 'COMPUTE_STATUS_DISABLED' not in said.names
    assert one.traits - set(node.left_out(one)) <= said.names
