# SPDX-License-Identifier: Apache-2.0
"""The daemon's own page: its nodes without an account, from what it knows."""

import concurrent.futures
import re
import subprocess
import sys

import explored_cloud
import pytest
import requests
from explored_cloud import CN1

from compute_agent.cmd.control import node_states
from compute_agent.cmd.explore import daemon_page
from compute_agent.cmd.run import status
from compute_agent.cycle.node.node_result import NodeResult, Status
from compute_agent.tree.node import Node

LOCAL = {'host': 'localhost'}


@pytest.fixture
def address(cli, daemon):
    """The address that a daemon of two nodes prints."""
    cli.configure(
        agent={'metrics_bind': '127.0.0.1:0', 'max_removed_percent': 0}
    )
    explored_cloud.describe(cli, explored_cloud.description())
    one = daemon(cli.config, '--show-tree')
    one.wait_for('see it in a browser: http')
    return re.findall(r'see it in a browser: (\S+)', one.said)[0]


def test_the_daemon_prints_the_address_of_its_page(address):
    answer = requests.get(address, timeout=60)
    assert answer.status_code == 200
    assert 'cn1' in answer.text
    assert "default-src 'none'" in answer.headers['Content-Security-Policy']
    assert requests.get(f'{address}style.css', timeout=60).ok
    data = requests.get(f'{address}?format=json', timeout=60).json()
    assert [node['node'] for node in data['nodes']] == ['cn1', 'cn2']
    page = requests.get(f'{address}node/{CN1}', timeout=60).text
    assert 'cn1_gpu0' in page
    assert 'HW_CPU_X86_AVX512F' in page
    assert 'VGPU' in page
    assert requests.get(f'{address}metrics', timeout=60).ok
    assert requests.get(f'{address}healthz', timeout=60).json()


def test_a_foreign_site_gets_one_line(address):
    for headers, code in (
        ({'Host': 'evil.example'}, 421),
        ({'Origin': 'http://evil.example'}, 403),
    ):
        answer = requests.get(address, headers=headers, timeout=60)
        assert answer.status_code == code
        assert answer.text.count('\n') == 1
        assert 'cn1' not in answer.text
    # Prometheus may ask by any name, as before.
    asked = requests.get(
        f'{address}metrics', headers={'Host': 'cn1.example'}, timeout=60
    )
    assert asked.ok
    nobody = requests.get(f'{address}node/{CN1}/../x', timeout=60)
    assert nobody.status_code == 404


def results(count, text=''):
    return [
        NodeResult(
            node=Node(
                uuid=f'dddddddd-dddd-4ddd-8ddd-{number:012}',
                name=f'node{number}',
            ),
            status=Status.FAILED if text else Status.DONE,
            reasons=(text,) if text else (),
        )
        for number in range(count)
    ]


@pytest.fixture
def states():
    return node_states.NodeStates()


@pytest.fixture
def page(states):
    return daemon_page.DaemonPage(status.DaemonStatus(), states, str)


def test_a_page_is_made_once_for_each_cycle(page, states, monkeypatch):
    """200 readers at once cost a cycle one page."""
    states.end(results(3))
    made = []
    real = daemon_page.DaemonPage._page

    def noted(self, path, query):
        made.append(path)
        return real(self, path, query)

    monkeypatch.setattr(daemon_page.DaemonPage, '_page', noted)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: page.answer('/', LOCAL), range(200)))
    assert len({body for _, _, body in answers}) == 1
    assert made == ['/']
    states.end(results(4))
    _, _, body = page.answer('/', LOCAL)
    assert b'node3' in body
    assert made == ['/', '/']


def test_many_nodes_are_shown_in_pages(page, states):
    states.end(results(250))
    _, _, body = page.answer('/', LOCAL)
    assert b'page 1 of 3' in body
    assert b'node249' not in page.answer('/?page=2', LOCAL)[2]
    assert b'node249' in page.answer('/?search=node249', LOCAL)[2]
    for odd in ('/?page=x', '/?page=99999999999', '/?page=-1', '/?page=0'):
        assert page.answer(odd, LOCAL)[0] == 200


def test_a_hostile_name_is_text(page, states):
    states.end(results(1, explored_cloud.HOSTILE))
    for path in (
        '/', '/node/dddddddd-dddd-4ddd-8ddd-000000000000',
        f'/?search={explored_cloud.HOSTILE}',
    ):  # fmt: skip
        _, _, body = page.answer(path, LOCAL)
        assert b'<script' not in body
        assert b'<img' not in body


def test_a_node_that_no_cycle_has_read_is_shown(page, states):
    assert b'No cycle has ended yet' in page.answer('/', LOCAL)[2]
    states.end(results(1))
    path = '/node/dddddddd-dddd-4ddd-8ddd-000000000000'
    assert b'No cycle has read it yet' in page.answer(path, LOCAL)[2]
    other = '/node/dddddddd-dddd-4ddd-8ddd-000000000009'
    assert page.answer(other, LOCAL)[0] == 404


def test_nothing_of_the_page_is_imported_before_it_is_asked_for():
    """The extra is not needed for anything else."""
    program = (
        'import sys\n'
        'import compute_agent.cmd.run.process\n'
        'import compute_agent.cmd.explore.explore\n'
        'found = {"jinja2", "waitress"} & set(sys.modules)\n'
        'sys.exit(str(found) if found else 0)'
    )
    subprocess.run([sys.executable, '-c', program], check=True)


def test_without_the_extra_the_command_says_how_to_get_it(cli):
    program = (
        'import sys\n'
        'sys.modules["jinja2"] = None\n'
        'from compute_agent.cmd.app import start\n'
        'sys.exit(start.main())'
    )
    words = ['--config-file', str(cli.config), 'explore']
    done = subprocess.run(
        [sys.executable, '-c', program, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert 'install the agent with [explore]' in done.stderr
    assert done.stderr.count('\n') == 1
