# SPDX-License-Identifier: Apache-2.0
"""A wrong call of each method of the tree is refused in a line with a remedy.

The rows follow from the signatures: each public method of ``ProviderTree`` that
a driver may call is called with each wrong value of each of its parameters. A
method with a new parameter needs rows here. The methods for the agent alone
are those that docs/provider-tree.md lists as such.
"""

import inspect
import itertools
import pathlib
import re
import typing
import uuid

import pytest

from compute_agent import errors
from compute_agent.tree import inventory, provider, provider_tree

NODE = '11111111-1111-4111-8111-111111111111'
NEW = '22222222-2222-4222-8222-222222222222'
AGG = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
DATA = provider_tree.ProviderData(
    uuid=NODE,
    name='cn1',
    generation=1,
    parent_uuid=None,
    inventory={},
    traits=set(),
    aggregates=set(),
    resources={},
)


def made():
    """A tree with a node and a child."""
    node = provider.Provider(
        uuid=NODE,
        name='cn1',
        generation=1,
        inventories={'VCPU': inventory.Inventory(total=8)},
        traits=frozenset({'CUSTOM_A'}),
    )
    tree = provider_tree.ProviderTree.from_providers([node])
    tree.new_child('cn1_gpu', 'cn1')
    return tree


class Row(typing.NamedTuple):
    """A wrong value, and a part of the advice that its refusal gives."""

    value: typing.Any
    advice: str


def records(**fields):
    return {'VCPU': {'total': 8} | fields}


RIGHT = {
    'name_or_uuid': 'cn1',
    'parent': 'cn1',
    'name': 'new',
    'uuid': NEW,
    'generation': 3,
    'inventory': records(),
    'resources': {},
    'traits': ['CUSTOM_B'],
    '*traits': 'CUSTOM_B',
    'aggregates': [AGG],
    '*aggregates': AGG,
    'rc': 'VCPU',
    'resource_class': 'PCPU',
    'other': 'VCPU',
    'text': 'a line',
    'provider_dicts': [{'uuid': NEW, 'name': 'new'}],
    'why': 'a fan stands still',
    'wanted': {'new': {'inventory': records()}},
}
_PROVIDER = [
    Row('cn2', r'the nearest is cn1\); ask exists\(\) first'),
    Row('', r'the tree has cn1, cn1_gpu\); ask exists\(\) first'),
    Row(NEW, 'ask exists'),
    Row(5, 'give a text, its name or its uuid'),
    Row(None, 'give a text, its name or its uuid'),
    Row(['cn1'], 'give one provider, and call the method for each'),
    Row(DATA, r'give its \.uuid'),
    Row(uuid.UUID(NODE), r'give str\(\) of it'),
]
_SYMBOL = [
    Row('vcpu', 'use 1 to 255 of the characters A-Z, 0-9 and _'),
    Row('', 'use 1 to 255 of the characters'),
    Row(None, 'use 1 to 255 of the characters'),
    Row(['VCPU'], r'give the names one by one, as in \*names'),
]
_COLLECTION = [
    Row('CUSTOM_A', 'give a list or a set of them'),
    Row(b'CUSTOM_A', 'give a list or a set of them'),
    Row(None, 'give a list or a set of them'),
    Row(7, 'give a list or a set of them'),
    Row({'CUSTOM_A': True}, 'give a list or a set of them'),
]
_UUID = [
    Row('new', 'write it as 32 hexadecimal digits'),
    Row(5, 'write it as 32 hexadecimal digits'),
    Row([NEW], 'give the names one by one'),
]
_UNITS = 'must be a whole number from'
WRONG = {
    'name_or_uuid': _PROVIDER,
    'parent': _PROVIDER,
    'name': [
        Row('', 'use 1 to 200 characters'),
        Row('x' * 201, 'use 1 to 200 characters'),
        Row(None, 'use 1 to 200 characters'),
        Row(7, 'use 1 to 200 characters'),
        Row('cn1', 'Provider cn1 already exists: '),
    ],
    'uuid': [*_UUID, Row(NODE, 'already exists: |placement knows provider')],
    'generation': [
        Row('3', 'leave it out, because the agent knows it'),
        Row(True, 'leave it out, because the agent knows it'),
        Row(1.5, 'leave it out, because the agent knows it'),
    ],
    'inventory': [
        Row(None, 'give resource class → record'),
        Row('VCPU', 'give resource class → record'),
        Row([('VCPU', {'total': 8})], 'give resource class → record'),
        Row({'VCPU': 8}, 'give a mapping with a total'),
        Row({'VCPU': None}, 'give a mapping with a total'),
        Row({'VCPU': {}}, "add 'total', or leave out the class"),
        Row({'vcpu': {'total': 8}}, 'use 1 to 255 of the characters'),
        Row({7: {'total': 8}}, 'use 1 to 255 of the characters'),
        Row(records(total=0), 'leave out a class whose total is 0'),
        Row(records(total=-1), _UNITS),
        Row(records(total=8.0), 'give an int'),
        Row(records(total='8'), 'give an int'),
        Row(records(total=True), 'give an int'),
        Row(records(total=None), 'give an int'),
        Row(records(total=2**31), f'{_UNITS} 1 to 2147483647'),
        Row(records(totl=8), 'the fields are allocation_ratio, max_unit, '),
        Row(records(reserved=9), 'to offer nothing, give reserved = total'),
        Row(records(reserved=-1), _UNITS),
        Row(records(reserved=0.5), 'give an int'),
        Row(records(min_unit=0), _UNITS),
        Row(records(min_unit=3, max_unit=2), 'lower min_unit'),
        Row(records(min_unit=9), 'lower min_unit, or leave out the class'),
        Row(records(max_unit=0), _UNITS),
        Row(records(step_size=0), _UNITS),
        Row(records(step_size=9), 'lower step_size, or leave out the class'),
        Row(records(allocation_ratio=0), 'leave it out, and configuration'),
        Row(records(allocation_ratio=0.0), 'leave it out, and configuration'),
        Row(records(allocation_ratio=-1), 'leave it out, and configuration'),
        Row(records(allocation_ratio='4'), 'leave it out, and configuration'),
        Row(records(allocation_ratio=True), 'leave it out, and configuration'),
        Row(
            records(allocation_ratio=float('nan')),
            'leave it out, and configuration',
        ),
    ],
    'resources': [
        Row(None, 'give resource class → the objects, {} for none'),
        Row('CUSTOM_A', 'give resource class → the objects'),
        Row(['CUSTOM_A'], 'give resource class → the objects'),
    ],
    'traits': [*_COLLECTION, *(Row([r.value], r.advice) for r in _SYMBOL)],
    '*traits': _SYMBOL,
    'aggregates': [*_COLLECTION, *(Row([r.value], r.advice) for r in _UUID)],
    '*aggregates': _UUID,
    'rc': _SYMBOL,
    'resource_class': [*_SYMBOL, Row('VCPU', 'name the other class')],
    'other': _SYMBOL,
    'text': [
        Row(5, 'give a text that says what happened'),
        Row(None, 'give a text that says what happened'),
        Row('', 'give a text that says what happened'),
        Row(['a', 'b'], 'give a text that says what happened'),
        Row(ValueError('x'), 'give a text that says what happened'),
    ],
    'provider_dicts': [
        Row('new', 'give a list of mappings'),
        Row(5, 'give a list of mappings'),
        Row({'uuid': NEW, 'name': 'new'}, 'give a list of mappings'),
        Row(['new'], "give a mapping with 'uuid' and 'name'"),
        Row([{'uuid': NEW}], "give a mapping with 'uuid' and 'name'"),
        Row([{'name': 'new'}], "give a mapping with 'uuid' and 'name'"),
        Row([{'uuid': 'x', 'name': 'new'}], 'write it as 32 hexadecimal'),
        Row([{'uuid': NEW, 'name': 5}], 'use 1 to 200 characters'),
        Row(
            [{'uuid': NEW, 'name': 'new', 'generation': '1'}],
            'leave it out',
        ),
        Row(
            [{'uuid': NEW, 'name': 'new', 'parent_provider_uuid': 'cn1'}],
            'write it as 32 hexadecimal',
        ),
        Row(
            [{'uuid': NEW, 'name': 'new', 'parent_provider_uuid': AGG}],
            'add it to the list',
        ),
        Row([{'uuid': NEW, 'name': 'cn1'}], 'already exists: '),
    ],
}
_CHILD = 'give a mapping with aggregates, inventory, traits, uuid'
WRONG |= {
    'why': [
        Row(5, 'give a text that tells the operator why'),
        Row(None, 'give a text that tells the operator why'),
        Row('', 'give a text that tells the operator why'),
        Row(['a'], 'give a text that tells the operator why'),
    ],
    'wanted': [
        Row(None, 'give name → child'),
        Row(['new'], 'give name → child'),
        Row('new', 'give name → child'),
        Row({'new': None}, _CHILD),
        Row({'new': 8}, _CHILD),
        Row({'new': {'VCPU': {'total': 8}}}, _CHILD),
        Row({'': {}}, 'use 1 to 200 characters'),
        Row({5: {}}, 'use 1 to 200 characters'),
        Row({'cn1': {}}, 'remove it there first'),
        Row({'new': {'uuid': 'x'}}, 'write it as 32 hexadecimal digits'),
        Row({'cn1_gpu': {'uuid': NEW}}, 'leave the uuid out'),
        Row({'a': {'uuid': NEW}, 'b': {'uuid': NEW}}, 'give each its own'),
        Row({'new': {'traits': 'CUSTOM_A'}}, 'give a list or a set of them'),
        Row({'new': {'traits': ['a']}}, 'use 1 to 255 of the characters'),
        Row({'new': {'aggregates': ['x']}}, 'write it as 32 hexadecimal'),
        Row({'new': {'inventory': 8}}, 'give resource class → record'),
        Row({'new': {'inventory': records(total=0)}}, 'leave out a class'),
    ],
}
# Answers that are right although the value is odd.
RIGHT_AFTER_ALL = {
    ('get_provider_uuids', 'name_or_uuid'): [None],  # all providers
    ('new_child', 'uuid'): [],  # None: it follows from the name
    # The question is if the tree has it.
    ('exists', 'name_or_uuid'): ['cn2', '', NEW],
    ('drained', 'why'): [''],  # it needs no reason
}
PAGE = pathlib.Path(__file__).parents[4] / 'docs' / 'provider-tree.md'
FOR_THE_AGENT = set(
    re.findall(
        r'`(\w+)`',
        PAGE.read_text('utf-8').partition(
            '## Methods and attributes for the agent'
        )[2],
    )
)


def methods():
    """The methods that a driver may call, with the names of their arguments."""
    for name, found in inspect.getmembers(
        provider_tree.ProviderTree, inspect.isfunction
    ):
        if not name.startswith('_') and name not in FOR_THE_AGENT:
            parameters = list(inspect.signature(found).parameters.values())
            yield name, [shown(p) for p in parameters[1:]]


def shown(parameter):
    varied = parameter.kind is inspect.Parameter.VAR_POSITIONAL
    return f'*{parameter.name}' if varied else parameter.name


def rows():
    for name, parameters in methods():
        for at, parameter in enumerate(parameters):
            right = RIGHT_AFTER_ALL.get((name, parameter), [])
            for row in WRONG.get(parameter, ()):
                if not any(
                    row.value is one or row.value == one for one in right
                ):
                    yield name, parameters, at, row


METHODS = list(methods())
ROWS = list(rows())
COUNTS = itertools.groupby(ROWS, key=lambda found: found[0])
IDS = [
    f'{name}-{parameters[at]}-{n}'
    for _, group in COUNTS
    for n, (name, parameters, at, _) in enumerate(group)
]


def arguments(parameters, at=None, value=None):
    return [
        value if place == at else RIGHT[parameter]
        for place, parameter in enumerate(parameters)
    ]


def contents(tree):
    return (
        [tree.data(one) for one in tree.get_provider_uuids()],
        tree.description(),
        dict(tree.counted_as),
        dict(tree.set_aside),
    )


@pytest.mark.parametrize(('name', 'parameters'), METHODS)
def test_a_right_call_is_accepted(name, parameters):
    """Otherwise a row could be refused for another reason."""
    getattr(made(), name)(*arguments(parameters))


@pytest.mark.parametrize(('name', 'parameters'), METHODS)
def test_each_parameter_has_wrong_values(name, parameters):
    without = [p for p in parameters if not WRONG.get(p)]
    assert not without, f'{name}: add rows to WRONG for {without}'


@pytest.mark.parametrize(('name', 'parameters', 'at', 'row'), ROWS, ids=IDS)
def test_a_wrong_call_is_one_line_with_a_remedy(name, parameters, at, row):
    tree = made()
    before = contents(tree)
    with pytest.raises(errors.AgentError) as caught:
        getattr(tree, name)(*arguments(parameters, at, row.value))
    line = str(caught.value)
    assert re.search(row.advice, line), line
    assert line.isprintable()
    assert len(line) < 300
    assert contents(tree) == before


def test_there_are_many_wrong_calls():
    assert len(ROWS) >= 170


def test_a_parent_in_the_place_of_the_child_is_said():
    with pytest.raises(errors.TreeError, match=r'new_child\(name, parent\)$'):
        made().new_child('cn1', 'new')


def test_a_uuid_may_be_spelled_in_capitals():
    tree = made()
    tree.new_root('new', AGG)
    assert tree.exists(AGG.upper())
    assert tree.data(AGG.upper()).name == 'new'


@pytest.mark.catches('a wrong value for the tree is taken silently')
def test_a_record_of_another_writer_may_be_repeated():
    """A driver gives back what placement has, odd as it may be."""
    odd = inventory.Inventory(total=4, step_size=8, allocation_ratio=0.0)
    node = provider.Provider(uuid=NODE, name='cn1', inventories={'VCPU': odd})
    tree = provider_tree.ProviderTree.from_providers([node])
    assert tree.update_inventory('cn1', tree.data('cn1').inventory) is False
    with pytest.raises(errors.TreeError, match='leave it out'):
        tree.update_inventory('cn1', {'VGPU': odd.to_record()})
