# SPDX-License-Identifier: Apache-2.0
"""Texts about nodes that say the same are one line; others never are."""

import pytest

from compute_agent.tree import alike
from compute_agent.tree.node import Node

MANY = [
    Node(uuid=f'{n:08}-1111-4111-8111-111111111111', name=f'cn{n}')
    for n in range(1000)
]
FIRST, SECOND, *_ = MANY


def lines(text, nodes=MANY):
    """The lines about nodes, of each of which the same is said."""
    return alike.lines(
        (
            node,
            text.format(
                name=node.name, uuid=node.uuid, number=8 + int(node.name[2:])
            ),
        )
        for node in nodes
    )


@pytest.mark.catches('a node has a reason of its own by its name or amounts')
@pytest.mark.parametrize(
    'text',
    [
        'trait CUSTOM_A of {name} ({uuid}) is contended',
        'set traits of {name}_numa0 ({uuid}): HTTP 409 in use',
        '{name}.example.com is elsewhere',
        'the name {name} belongs to {uuid}',
        'set inventories of {name}: ~VCPU total={number}→{number}.5: HTTP 409',
        'lower VCPU from {number} to 8',
        'waits for process {number}',
        'HTTP 500 [req-{uuid}]',
    ],
)
def test_texts_that_differ_in_what_a_node_has_are_one_line(text):
    (line,) = lines(text)
    assert line.startswith(
        f'1000 nodes ({FIRST}, {SECOND}, {MANY[2]} and 997 more): '
    )


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('HTTP 409', 'HTTP 400'),
        ('placement.inventory.inuse', 'placement.concurrent_update'),
        ('trait CUSTOM_A is contended', 'trait CUSTOM_B is contended'),
        ('set traits: refused', 'set aggregates: refused'),
        ('API version v1', 'API version v2'),
    ],
)
def test_other_reasons_have_other_lines(one, other):
    (group,) = alike.groups([(FIRST, one), (SECOND, one)])
    assert group.nodes == [FIRST, SECOND]
    assert len(alike.groups([(FIRST, one), (SECOND, other)])) == 2


def test_traits_that_differ_do_not_make_another_reason():
    found = alike.groups(
        [
            (FIRST, 'set traits of cn0: +CUSTOM_A, -HW_B: HTTP 400'),
            (SECOND, 'set traits of cn1: +CUSTOM_C: HTTP 400'),
        ]
    )
    (group,) = found
    assert group.text == (
        'for example: set traits of cn0: +CUSTOM_A, -HW_B: HTTP 400'
    )


def test_it_stands_for_each_node_if_that_is_all_that_differs():
    (line,) = lines('delete {name}: waits for cn1000')
    assert line.endswith(' more): delete it: waits for cn1000')


def test_equal_texts_are_one_line():
    (line,) = lines('broken')
    assert line.endswith(' and 997 more): broken')


def test_few_nodes_have_a_line_each():
    assert lines('{name} is broken', MANY[:3]) == [
        f'{node}: {node.name} is broken' for node in MANY[:3]
    ]


def test_a_node_that_people_call_otherwise_is_recognized():
    named = [
        Node(uuid=n.uuid, name=n.uuid, title=f'rack-{n.name}')
        for n in MANY[:9]
    ]
    (line,) = alike.lines((n, f'{n.called}: {n.name} fails') for n in named)
    assert line.endswith(': it: it fails')


def test_a_name_within_another_name_stays():
    assert alike.pattern('cn1 and cn10 and xcn1', 'cn1') == (
        'NODE and cn10 and xcn1'
    )
