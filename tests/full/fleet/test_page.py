# SPDX-License-Identifier: Apache-2.0
"""A newcomer types docs/fleet.md: its files and its ten commands, as they stand.

Only the ports of the servers are others, and PostgreSQL is the test's own.
"""

import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import time

import databases
import openstack_server
import pages
import pytest
from databases import postgresql_pair

from benchmarks.sync_cycles import postgresql

PAGE = (pages.ROOT / 'docs' / 'fleet.md').read_text()
TRY = PAGE.partition('## Try it')[2].partition('\n## ')[0]
NAMED = r'`([\w.]+)`[^\n]*:\n\n```\w+\n(.*?)```'
FILES = dict(re.findall(NAMED, TRY, re.DOTALL))
TYPED = re.findall(r'^    (.+)$', TRY.partition('as root:')[2], re.MULTILINE)
PATIENCE = 300  # seconds; only a hang takes as long
# What a person waits for after a command.
SEEN = {
    'placement serve': r'http://127\.0\.0\.1',
    'one.conf run': 'this agent holds the share',
    'two.conf run': 'this agent stands by',
    'kill -9': r'this agent holds the share .*\(epoch 2\)',
}


class Terminal:
    """A shell, and all that is printed there."""

    def __init__(self, folder, environment):
        self._log = folder / 'terminal'
        with self._log.open('wb') as log:
            self.shell = subprocess.Popen(
                ['bash'],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment,
                text=True,
            )

    def type(self, line, seen=''):
        """Type a line; return what was printed until it was done."""
        before = len(self._log.read_text())
        print(f'{line}\necho typed $?', file=self.shell.stdin, flush=True)
        deadline = time.monotonic() + PATIENCE
        while True:
            said = self._log.read_text()[before:]
            done = re.search(r'^typed (\d+)$', said, re.MULTILINE)
            if done and re.search(seen, said):
                assert done[1] == '0', said
                return said
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.1)


@pytest.fixture
def server():
    """A PostgreSQL of its own: the page makes an account and a database."""
    if os.geteuid() != 0:
        pytest.skip('only root is the user of PostgreSQL')
    if not postgresql.is_installed():
        pytest.fail(postgresql_pair.MISSING)
    with (
        databases.folder('root') as made,
        postgresql.started(made, openstack_server.steady_port()) as running,
    ):
        yield running


@pytest.fixture
def terminal(server, tmp_path):
    """A shell in a new directory."""
    programs = tmp_path / 'bin'
    programs.mkdir()
    agent = programs / 'compute-agent'
    agent.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} '
        '-m compute_agent.cmd.app.start "$@"\n'
    )
    agent.chmod(0o755)
    opened = Terminal(
        tmp_path,
        {
            **os.environ,
            'PATH': f'{programs}:{os.environ["PATH"]}',
            'PYTHONPATH': str(pages.ROOT),
            'PGHOST': '127.0.0.1',
            'PGPORT': str(server.port),
            'PGUSER': 'bench',
            'PGDATABASE': 'postgres',
        },
    )
    yield opened
    opened.type('kill $(jobs -p); wait; true')
    opened.shell.stdin.close()
    opened.shell.wait(PATIENCE)


def test_ten_commands_show_the_second_agent_go_on(terminal, server, tmp_path):
    assert len(TYPED) == 10
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    files = {**FILES, 'two.conf': FILES['one.conf'].replace('one', 'two')}
    assert len(files) == 4
    for name, text in files.items():
        own = text.replace('8778', str(port)).replace(
            '@127.0.0.1/', f'@127.0.0.1:{server.port}/'
        )
        if name == 'placement.conf':
            own += f'embedded_port = {port}\n'
        pathlib.Path(tmp_path, name).write_text(own)
    said = {}
    for number, line in enumerate(TYPED):
        wanted = [seen for part, seen in SEEN.items() if part in line]
        said[number] = terminal.type(line, *wanted)
    first, second, shown, history = (said[n] for n in (5, 7, 8, 9))
    assert re.search(r'reports it \(epoch 1\)', first)
    assert 'stands by' in first
    assert re.search(r'reports it \(epoch 2\)', second)
    assert 'CUSTOM_GOLD' in shown
    assert 'provider created' in history
