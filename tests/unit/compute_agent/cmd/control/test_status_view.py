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
        'version': '1', 'process': 1, 'runs_for': 60.0, 'since': 'then',
        'cycle': None, 'running_since': None, 'outage': None,
        'circuit_breaker': None, 'counts': {'waiting': len(nodes)},
        'held': {
            'changes': sum(per_node), 'nodes': [*NAMES[: len(nodes)]],
            'since': 'then',
        },
        'nodes': nodes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ('per_node', 'changes', 'it', 'of_the_first'),
    [
        ([1], '1 change of 1 node has', 'it', '1 change waits'),
        ([2], '2 changes of 1 node have', 'them', '2 changes wait'),
        ([1, 1], '2 changes of 2 nodes have', 'them', '1 change waits'),
    ],
)
def test_one_change_waits_and_two_wait(per_node, changes, it, of_the_first):
    said = list(status_view.lines(data(per_node), ASKED))
    assert (
        f'{changes} waited for approval since then: "compute-agent approve" '
        f'shows and approves {it}'
    ) in said
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
