# SPDX-License-Identifier: Apache-2.0
"""The status says how many changes wait for a person, in correct English."""

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
