# SPDX-License-Identifier: Apache-2.0
"""The status is correct English, and says everything once."""

import argparse

import pytest

from compute_agent.cmd.control import status_view

ASKED = argparse.Namespace(nodes=[], all=False)
NAMES = ('cn1', 'cn2')


def data(per_node):
    """A daemon whose nodes hold so many changes each."""
    nodes = [
        {
            'node': name, 'uuid': f'uuid-of-{name}', 'status': 'waiting',
            'reason': '', 'done': None, 'again': None, 'held': number,
            'contended': 0,
        }
        for name, number in zip(NAMES, per_node, strict=False)
    ]  # fmt: skip
    return {
        'share': 'ironic', 'agent': '0123456789AB',
        'version': '1', 'process': 1, 'runs_for': 60.0, 'since': 'then',
        'cycle': None, 'running_since': None, 'outage': None,
        'circuit_breaker': None, 'membership': None, 'counts': {'waiting': len(nodes)},
        'held': {
            'changes': sum(per_node), 'nodes': [*NAMES[: len(nodes)]],
            'since': 'then', 'kinds': [], 'digest': 'all',
        },
        'nodes': nodes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ('per_node', 'changes', 'of_the_first'),
    [
        ([1], '1 change of 1 node waits', '1 change waits'),
        ([2], '2 changes of 1 node wait', '2 changes wait'),
        ([1, 1], '2 changes of 2 nodes wait', '1 change waits'),
    ],
)
def test_one_change_waits_and_two_wait(per_node, changes, of_the_first):
    said = list(status_view.lines(data(per_node), ASKED))
    assert f'{changes} for approval since then:' in said
    assert f'    {of_the_first} for approval' in said


AWAY = 'HTTP 503: {} [req-{}-d329-4989-ace6-18c940750f55]'


@pytest.mark.parametrize(
    ('last', 'is_told'),
    [
        (AWAY.format('No server.', 'f508674b'), False),
        (AWAY.format('Overloaded.', 'f508674b'), True),
    ],
    ids=['that of the outage', 'another'],
)
def test_the_trouble_of_the_last_cycle_is_told_once(last, is_told):
    shown = data([1])
    shown['cycle'] = {
        'age': 2.0, 'began': 'then', 'seconds': 0.1, 'operations': 0,
        'counts': {'waiting': 1}, 'trouble': last,
    }  # fmt: skip
    shown['outage'] = {
        'age': 60.0, 'since': 'then',
        'reason': AWAY.format('No server.', '11111111'),
    }  # fmt: skip
    shown['last_good'] = None
    _, cycle, outage, *_ = status_view.lines(shown, ASKED)
    assert cycle.endswith('; 0 operations' + f'; {last}' * is_told)
    assert 'HTTP 503: No server.' in outage


def test_reasons_that_differ_by_the_node_s_name_are_one():
    shown = data([0])
    (node,) = shown['nodes']
    shown['nodes'] = [
        {**node, 'node': f'n{n}', 'reason': f'delete n{n}: waits for n1000'}
        for n in range(100, 120)
    ]
    shown['nodes'][0]['reason'] = 'delete n100: refused'
    *_, counts, many, one = status_view.lines(shown, ASKED)
    assert counts.endswith('a node, --all every node')
    assert many.startswith('  19 nodes (n101 (uuid-of-cn1), ')
    assert many.endswith(' and 16 more): waiting: delete it: waits for n1000')
    assert one == '  n100 (uuid-of-cn1): waiting: delete n100: refused'


@pytest.mark.parametrize(
    ('progress', 'said'),
    [
        (None, ''),
        (
            {'nodes': 10, 'done': 1, 'writes': 1, 'rate': None,
             'remaining': None},
            ': 1 of 10 nodes, 1 write',
        ),
        (
            {'nodes': 1000, 'done': 437, 'writes': 1311, 'rate': 51.96,
             'remaining': 10.8},
            ': 437 of 1000 nodes, 1311 writes, 52.0 nodes/s, about 11 s remain',
        ),
    ],
)  # fmt: skip
def test_a_cycle_that_runs_tells_how_far_it_is(progress, said):
    shown = data([0]) | {'running_since': 'then', 'progress': progress}
    _, cycle, *_ = status_view.lines(shown, ASKED)
    assert cycle == (
        f'last cycle: none has ended yet; a cycle has run since then{said}'
    )


SHARE = {
    'share': 'ironic', 'role': 'holder', 'epoch': 3, 'holder': 'a holds it',
    'standbys': ['b (process 2)'], 'able': True, 'giving_up': '',
    'database': '',
}  # fmt: skip


@pytest.mark.parametrize(
    ('part', 'said'),
    [
        (
            {},
            ['reports the share ironic (epoch 3); standing by: b (process 2)'],
        ),
        (
            {'standbys': [], 'giving_up': 'alice released it'},
            [
                (
                    'reports the share ironic (epoch 3); standing by: no '
                    'other agent'
                ),
                'gives the share up: alice released it',
            ],
        ),
        (
            {'role': 'standby', 'able': False, 'database': 'it is away'},
            [
                'stands by, and could not report now: a holds it',
                'nothing is written: it is away',
            ],
        ),
        ({'role': 'standby'}, ['stands by: a holds it']),
    ],
)
def test_the_part_in_a_share_is_told(part, said):
    shown = data([0]) | {'membership': SHARE | part}
    _, *lines = status_view.lines(shown, ASKED)
    assert lines[: len(said)] == said
