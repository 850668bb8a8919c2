# SPDX-License-Identifier: Apache-2.0
"""The bad answers that each fault makes of a true one."""

import collections
import copy
import dataclasses
import io
import types

import pytest

from compute_agent import errors
from compute_agent.testing import Fault, Seam
from compute_agent.testing.contract.rules import unknown
from compute_agent.testing.values import bodies
from compute_agent.testing.values import seam as seams

SEAM = Seam('source', object, 'read')
GARBAGE = seams._GARBAGE
RACKS = {'racks': [{'name': 'a'}, {'name': 'b'}], 'count': 2}


@pytest.mark.parametrize(
    ('true', 'halves'),
    [
        ('abcd', ['ab']),
        (b'abc', [b'a']),
        ([1, 2, 3], [[1]]),
        ((1, 2), [(1,)]),
        ({1, 2}, [{1}]),
        ({'a': 1, 'b': 2}, [{'a': 1}, {'b': 2}, {'a': 1}]),
        ({'a': {'b': [1, 2]}}, [{}, {'a': {'b': [1]}}, {'a': {}}]),
        (
            [{'gpus': [1, 2]}, {'gpus': [3]}],
            [
                [{'gpus': [1, 2]}],
                [{'gpus': [1]}, {'gpus': [3]}],
                [{}, {'gpus': [3]}],
            ],
        ),
    ],
)
def test_half_of_an_answer_lacks_a_part_in_one_place(true, halves):
    assert SEAM.answers(Fault.HALF, true) == halves


def test_the_true_answer_stays_as_it_is():
    true = copy.deepcopy(RACKS)
    for fault in (Fault.HALF, Fault.EMPTY, Fault.GARBAGE):
        assert SEAM.answers(fault, true)
        assert true == RACKS


@pytest.mark.parametrize(
    'true', [7, None, True, '', 'a', [], [1], {}, object()]
)
def test_an_answer_that_cannot_be_halved_has_no_half(true):
    assert SEAM.answers(Fault.HALF, true) == []


@pytest.mark.parametrize(
    ('true', 'empty'),
    [
        ('abcd', ['']),
        ([1], [[]]),
        ({'a': 1}, [{}]),
        (
            RACKS,
            [
                {},
                {'racks': [], 'count': 2},
                {'racks': [{}, {'name': 'b'}], 'count': 2},
            ],
        ),
        ({'a': {'x': 1}, 'b': 1}, [{}, {'a': {}, 'b': 1}]),
        ([{'gpus': [7]}], [[], [{}], [{'gpus': []}]]),
        ('', []),
        (7, []),
        (None, []),
    ],
)
def test_an_empty_answer_is_of_its_type_or_empty_in_one_place(true, empty):
    assert SEAM.answers(Fault.EMPTY, true) == empty


@pytest.mark.parametrize('true', ['a', b'a', 7, 1.5, [1], {'a': 1}, (1,)])
def test_garbage_is_another_answer(true):
    found = SEAM.answers(Fault.GARBAGE, true)
    assert found
    assert true not in found
    assert type(true) in {type(bad) for bad in found} | {float}


@pytest.mark.parametrize(
    ('true', 'bad'),
    [
        ([{'gpus': [7]}], [{'gpus': None}]),
        ([{'gpus': [7]}], [{'gpus': [GARBAGE]}]),
        ([{'gpus': ['text']}], [{'gpus': [None]}]),
        ([{'total': 7}], [{'total': None}]),
        ([{'name': 'a'}], [{'name': [GARBAGE]}]),
        ([{'name': 'a'}], [None]),
        ({'shelves': {'a': {}}}, {'shelves': None}),
        ({'shelves': {'a': {}}}, {'shelves': {'a': GARBAGE}}),
        ({'pair': (1, 2)}, {'pair': (GARBAGE, GARBAGE)}),
        (collections.OrderedDict(a=1), collections.OrderedDict(a=None)),
    ],
)
def test_garbage_is_in_each_place_of_an_answer(true, bad):
    assert bad in SEAM.answers(Fault.GARBAGE, true)


def test_a_text_inside_of_an_answer_does_not_become_none():
    found = SEAM.answers(Fault.GARBAGE, [{'name': 'a', 'is_up': True}])
    assert [{'name': None, 'is_up': True}] not in found
    assert [{'name': 'a', 'is_up': None}] not in found


def test_a_long_answer_has_a_bounded_number_of_bad_ones():
    """White-box: the bound is a private constant."""
    rows = [{f'key-{n}': [n] for n in range(1000)}] * 1000
    for fault in (Fault.HALF, Fault.EMPTY, Fault.GARBAGE):
        found = SEAM.answers(fault, rows)
        assert 1 < len(found) <= 4 * seams._PLACES


@pytest.mark.parametrize('true', [None, True, False])
def test_no_answer_and_a_yes_or_no_have_no_garbage(true):
    assert SEAM.answers(Fault.GARBAGE, true) == []


def test_an_author_makes_the_bad_answers_of_an_object():
    seam = Seam(
        'source',
        object,
        'read',
        half=lambda true: types.SimpleNamespace(rows=true.rows[:1]),
        garbage=lambda _true: 'garbage',
    )
    true = types.SimpleNamespace(rows=[1, 2])
    assert seam.answers(Fault.HALF, true) == [types.SimpleNamespace(rows=[1])]
    assert seam.answers(Fault.GARBAGE, true) == ['garbage']


def test_the_exceptions_are_those_of_the_author():
    seam = Seam('source', object, 'read', timeout=KeyError, error=ValueError)
    assert isinstance(seam.exception(Fault.TIMEOUT), KeyError)
    assert isinstance(seam.exception(Fault.EXCEPTION), ValueError)
    assert isinstance(SEAM.exception(Fault.TIMEOUT), TimeoutError)
    assert isinstance(SEAM.exception(Fault.EXCEPTION), ConnectionError)


@pytest.mark.parametrize(
    'answer',
    [
        collections.defaultdict(list, b=[1], a=[2]),
        collections.Counter(b=1, a=2),
        collections.OrderedDict(b=1, a=2),
    ],
)
def test_another_order_is_of_the_type_of_the_answer(answer):
    found = seams.reordered(answer)
    assert dict(found) == dict(answer)
    assert list(found) == ['a', 'b']
    assert type(found) is type(answer)


def test_a_mapping_with_a_default_keeps_it_in_another_order():
    found = seams.reordered(collections.defaultdict(list, b=[1]))
    assert found['more'] == []


def test_another_order_is_an_equal_answer():
    answer = {'b': [{'y': 1, 'x': 2}], 'a': {3, 4}}
    found = seams.reordered(answer)
    assert found == answer
    assert list(found) == ['a', 'b']
    assert list(found['b'][0]) == ['x', 'y']


@pytest.mark.parametrize('fault', [Fault.TIMEOUT, Fault.EXCEPTION])
def test_a_call_that_raises_is_never_silent(fault):
    with pytest.raises(errors.ConfigError, match=f'silent has {fault.name}'):
        Seam('source', object, 'read', silent={fault: 'it is often so'})


@pytest.mark.parametrize('most', [0, -1])
def test_a_seam_has_to_let_a_call_fail(most):
    with pytest.raises(errors.ConfigError, match=f'most is {most}, '):
        Seam('source', object, 'read', most=most)


@pytest.mark.parametrize(
    ('most', 'numbers'),
    [(1, [1]), (2, [1, 9]), (3, [1, 5, 9]), (9, [*range(1, 10)])],
)
def test_the_calls_that_fail_are_spread_over_all(most, numbers):
    """White-box: no driver shows which of many calls failed."""
    assert unknown.spread(range(1, 10), most) == numbers


@dataclasses.dataclass(frozen=True)
class Processors:
    kind: str
    online: frozenset


def test_the_response_of_a_client_has_bad_texts_and_bad_values():
    true = bodies.kept(io.BytesIO(b'{"gpus": [1, 2]}'))
    bad = SEAM.answers(Fault.EMPTY, true)
    assert [one.read() for one in bad] == [b'', b'{}', b'{"gpus": []}']
    (half, *_) = SEAM.answers(Fault.HALF, true)
    assert half.read() == b'{"gpus": '[:8]
    assert not seams.is_opaque(true)


def test_a_record_has_bad_fields_of_their_types():
    true = Processors(kind='QEMU', online=frozenset({1, 2}))
    assert SEAM.answers(Fault.EMPTY, true) == [
        Processors(kind='', online=frozenset({1, 2})),
        Processors(kind='QEMU', online=frozenset()),
    ]
    (garbage,) = SEAM.answers(Fault.GARBAGE, true)
    assert garbage.kind != 'QEMU'
    assert garbage.online == {1, 2}


@pytest.mark.parametrize(
    ('answer', 'is_opaque'), [(object(), True), (None, False), ([], False)]
)
def test_an_object_of_another_class_has_no_bad_form(answer, is_opaque):
    assert seams.is_opaque(answer) is is_opaque


def test_lists_of_things_with_names_come_in_another_order():
    answer = {'b': [{'x': ['p', 'q']}, {'x': [0, 7]}], 'a': (1, 2)}
    found = seams.permuted(answer)
    assert found == {'b': [{'x': [0, 7]}, {'x': ['q', 'p']}], 'a': (1, 2)}
