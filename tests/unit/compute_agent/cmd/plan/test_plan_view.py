# SPDX-License-Identifier: Apache-2.0
"""The reasons of nodes without a plan: equal ones are one line."""

from compute_agent.cmd.plan import plan_view
from compute_agent.cycle.node import node_result
from compute_agent.tree.node import Node


def unplanned(number, reason='provider {} cannot be read', name='cn{}'):
    uuid = f'{number:08}-1111-4111-8111-111111111111'
    node = Node(uuid=uuid, name=name.format(number))
    return node_result.ended(
        node, node_result.Status.FAILED, reason.format(node)
    )


def test_equal_reasons_of_many_nodes_are_one_line():
    results = [unplanned(n) for n in range(30)]
    results.append(unplanned(30, 'something else'))
    first, last = results[0].node, results[30].node
    assert plan_view.unplanned(results, every=False) == [
        (
            f'{first}: provider cn0 cannot be read (the same for 29 other '
            'nodes)'
        ),
        f'{last}: something else',
    ]
    assert len(plan_view.unplanned(results, every=True)) == 31


def test_a_child_s_name_does_not_make_a_reason_different():
    results = [unplanned(n, f'child cn{n}_gpu is lost') for n in (1, 11)]
    (line,) = plan_view.unplanned(results, every=False)
    assert 'the same for 1 other node)' in line
