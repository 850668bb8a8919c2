# SPDX-License-Identifier: Apache-2.0
"""Other true answers: one value is another one, or a list is shorter."""

import pytest

from compute_agent.testing.values import alterations

NODES = ('api.nodes', '')
GPUS = ('api.gpus', "'rack'")
ANSWERS = {
    NODES: {'nodes': [{'name': 'rack', 'gpus': 2, 'updated_at': '10:00'}]},
    GPUS: '[{"model": "A100"}, {"model": "L40S"}]',
}


def places(**how):
    given = {'most': 30, 'with_versions': False} | how
    return [o.place for o in alterations.alterations(ANSWERS, **given)]


def test_each_value_changes_and_each_list_gets_shorter():
    assert places() == [
        "api.nodes(): nodes[0].name became 'racl'",
        'api.nodes(): nodes[0].gpus became 3',
        "api.nodes(): nodes[0].updated_at became '10:01'",
        "api.gpus('rack'): [0].model became 'A101'",
        "api.gpus('rack'): [1].model became 'L40T'",
        'api.nodes(): nodes[0] is gone',
        "api.gpus('rack'): [1] is gone",
        "api.gpus('rack'): [1] is gone, and the counts of it are",
    ]


def test_they_are_spread_over_all_if_there_are_many():
    assert places(most=2) == [
        "api.nodes(): nodes[0].name became 'racl'",
        "api.gpus('rack'): [1].model became 'L40T'",
        'api.nodes(): nodes[0] is gone',
    ]
    assert len(places(most=4)) == 4 + 2


def test_only_its_own_answer_is_altered_and_a_text_stays_a_text():
    *_, one = alterations.alterations(ANSWERS, most=30, with_versions=False)
    assert one.altered(GPUS, ANSWERS[GPUS]) == '[{"model": "A100"}]'
    (node,) = one.altered(NODES, ANSWERS[NODES])['nodes']
    assert node['gpus'] == 1
    assert one.altered(('api.other', ''), [1]) == [1]


def test_the_version_of_a_source_changes_along():
    *_, one = alterations.alterations(ANSWERS, most=30, with_versions=True)
    (node,) = one.altered(NODES, ANSWERS[NODES])['nodes']
    assert node == {'name': 'rack', 'gpus': 1, 'updated_at': '10:01'}


@pytest.mark.parametrize(
    ('value', 'other'),
    [
        (True, False),
        (9, 10),
        (1.5, 2.5),
        ('8\n', '9\n'),
        ('CUSTOM_Z', 'CUSTOM_A'),
        ('cafef', 'cafea'),
        (b'9', b'0'),
        ('', None),
        ('?', None),
        ('two\nlines', None),
        (None, None),
    ],
)
def test_another_value_is_of_the_same_kind(value, other):
    found = alterations.alterations(
        {NODES: {'value': value}}, most=30, with_versions=False
    )
    shown = [] if other is None else [f'api.nodes(): value became {other!r}']
    assert [one.place for one in found] == shown


@pytest.mark.parametrize(
    ('before', 'now', 'said'),
    [
        ({'a': [1, {'b': 2}]}, {'a': [1, {'b': None}]}, 'a[1].b became None'),
        ({'a': 1}, {}, 'a is gone'),
        ([1, 2], [1], 'the answer became [1]'),
        ('{"a": 1}', '{"a": 2}', 'a became 2'),
        ('text', 'te', "the answer became 'te'"),
        ('x', 'y' * 90, f"the answer became '{'y' * 79}…"),
    ],
)
def test_the_place_that_differs_is_named_with_its_value(before, now, said):
    assert alterations.became(before, now) == said
