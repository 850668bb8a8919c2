# SPDX-License-Identifier: Apache-2.0
"""The table of outcomes: a line for each reason, most nodes first."""

from compute_agent.cmd.plan import outcomes
from compute_agent.tree.node import Node

NODES = [Node(uuid=f'uuid-{n}', name=f'cn{n}') for n in range(40)]


def test_each_outcome_is_a_row_with_its_number_and_reason():
    rows = [('done', node, '') for node in NODES[:5]]
    rows += [('waiting', NODES[5], 'late')]
    rows += [('failed', node, f'{node.name} is off') for node in NODES[6:]]
    assert outcomes.of_nodes(rows) == [
        'status   nodes  reason',
        (
            'failed      34  it is off: cn6 (uuid-6), cn7 (uuid-7), cn8 '
            '(uuid-8) and 31 more'
        ),
        'waiting      1  late: cn5 (uuid-5)',
        'done         5',
    ]


def test_the_rarest_of_many_reasons_are_counted():
    words = [f'reason {chr(97 + n)}' for n in range(14)]
    rows = [('failed', NODES[n], word) for n, word in enumerate(words)]
    _, *found = outcomes.of_nodes(rows)
    assert len(found) == outcomes.MOST + 1
    assert found[-1] == 'failed      4  for other reasons'
