# SPDX-License-Identifier: Apache-2.0
"""Names that a driver makes the agent add and remove in turn."""

import pytest

from compute_agent.limits import contention
from compute_agent.tree import inventory, provider
from compute_agent.tree.assertion import Kind

A = '11111111-1111-4111-8111-111111111111'
B = '22222222-2222-4222-8222-222222222222'
PROVIDERS = provider.snapshot(
    [
        provider.Provider(uuid=A, name='node-1'),
        provider.Provider(uuid=B, name='nic', parent_uuid=A),
    ]
)


def item(*, there, name='CUSTOM_ONCE', kind=Kind.TRAIT, uuid=A):
    return contention.Item(uuid=uuid, kind=kind, name=name, there=there)


def found(cycles, node='node'):
    """Return the cycles, counted from 1, that find something, and what."""
    memory = contention.Alternation()
    named = {}
    for number, items in enumerate(cycles, start=1):
        given = None if items is None else frozenset(items)
        if result := memory.end_cycle({node: given}):
            named[number] = result[node]
    return named


ON, OFF = [item(there=True)], [item(there=False)]


@pytest.mark.parametrize(
    ('cycles', 'named'),
    [
        ([ON, OFF, ON], {}),
        ([ON, OFF, ON, OFF], {4: OFF}),
        ([OFF, ON, OFF, ON], {4: ON}),
        ([ON, OFF] * 5, {4: OFF}),
        # Another writer takes part.
        ([ON] * 10, {}),
        ([ON, ON, OFF, ON, ON, OFF, ON, ON], {}),
        # It is not the write of the cycle before.
        ([ON, [], OFF, [], ON, [], OFF, [], ON, []], {}),
        ([ON, OFF, [], ON, OFF, ON, OFF], {7: OFF}),
        # A cycle that got nowhere counts for nothing.
        ([ON, None, OFF, ON, None, None, OFF], {7: OFF}),
        # Once for each series.
        ([ON, OFF, ON, OFF, [], ON, OFF, ON, OFF], {4: OFF, 9: OFF}),
    ],
)
def test_three_undone_writes_in_a_row_are_named_once(cycles, named):
    assert found(cycles) == named


def amount(total):
    return [
        contention.Item(
            uuid=A,
            kind=Kind.INVENTORY,
            name='VCPU',
            record=inventory.Inventory(total=total),
        )
    ]


@pytest.mark.parametrize(
    ('totals', 'named'),
    [
        ([65, 64, 65, 64], {}),
        ([65, 64, 65, 64, 65], {5: 65}),
        ([65, 64] * 6, {5: 65}),
        # Another writer takes part, or the amount moves on.
        ([65] * 10, {}),
        ([65, 65, 64, 64] * 4, {}),
        ([65, 66, 67, 68, 69, 70], {}),
        ([65, 64, 65, 66, 65, 64, 65], {}),
    ],
)
def test_amounts_in_turn_are_named_once(totals, named):
    expected = {cycle: amount(total) for cycle, total in named.items()}
    assert found(map(amount, totals)) == expected


def test_names_providers_and_kinds_count_apart():
    others = [
        item(there=True, name='CUSTOM_OTHER'),
        item(there=True, uuid=B),
        item(there=True, kind=Kind.AGGREGATE),
    ]
    assert found([ON, others, ON, others]) == {}


def test_nodes_count_apart_and_a_departed_one_is_forgotten():
    memory = contention.Alternation()
    for items in (ON, OFF, ON):
        assert memory.end_cycle({'one': items, 'two': ON}) == {}
    assert memory.end_cycle({'two': OFF}) == {}
    assert memory.end_cycle({'one': OFF, 'two': ON}) == {}


@pytest.mark.parametrize(
    ('one', 'what'),
    [
        (item(there=True), 'trait CUSTOM_ONCE in one cycle'),
        (
            item(there=True, uuid=B),
            f'trait CUSTOM_ONCE of nic ({B}) in one cycle',
        ),
        (
            item(there=False, uuid=B, kind=None, name=''),
            f'nic ({B}) in one cycle',
        ),
    ],
)
def test_the_line_says_what_and_what_to_do(one, what):
    line = contention.alternation_line(one, PROVIDERS, A)
    assert line.startswith(f'the driver reports {what} and not in the next:')
    assert 'in every cycle or in none' in line


def test_the_line_about_amounts_has_no_number_of_them():
    line = contention.alternation_line(amount(64)[0], PROVIDERS, A)
    assert line.startswith(
        'the driver reports inventory VCPU with one amount in one cycle and '
        'with another in the next:'
    )
    assert line.endswith('must report the same amount while nothing changes')
    assert '64' not in line


def test_a_provider_that_is_gone_is_named_by_its_uuid():
    gone = item(there=False, uuid=B, kind=None, name='')
    assert f'provider {B} in one' in contention.alternation_line(gone, {}, A)
