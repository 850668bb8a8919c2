# SPDX-License-Identifier: Apache-2.0
"""The demo of a fleet, as a person runs it: two agents, of which one is killed."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import databases
import ironic_fixture
import pytest

PATIENCE = 300  # seconds; only a hang takes as long


def processes_in(folder):
    """Return the command lines of processes that have to do with a folder."""
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            command = path.joinpath('cmdline').read_bytes().decode()
            where = str(path.joinpath('cwd').readlink())
            if str(folder) in command or where.startswith(str(folder)):
                found.append(command)
    return found


@pytest.fixture
def folder():
    """A directory that the user of PostgreSQL reaches."""
    with databases.folder('root') as made:
        made.chmod(0o711)
        yield made
        # A server's main process ends before its others.
        databases.wait_for(lambda: not processes_in(made), 'all have ended')
        assert list(made.iterdir()) == []


@pytest.fixture
def demo(folder, tmp_path):
    """The demo in a process of its own, and the file of what it prints."""
    said = tmp_path / 'said'
    with said.open('wb') as log:
        process = subprocess.Popen(
            [sys.executable, '-m', 'demo.fleet_demo'],
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ironic_fixture.ROOT,
            env={
                **os.environ,
                'COMPUTE_AGENT_IRONIC': str(ironic_fixture.PROGRAM),
                'TMPDIR': str(folder),
            },
        )
    yield process, said
    process.kill()
    process.wait()


def test_the_second_agent_goes_on_and_the_demo_ends(demo):
    process, said = demo
    assert process.wait(PATIENCE) == 0, said.read_text()
    text = said.read_text()
    steps = (
        r'reports it \(epoch 1\)',
        'stands by: has the whole record',
        'kill -9',
        r'this agent holds the share \S+ from now on \(epoch 2\)',
        'delete provider .* its node is gone',
        '5 nodes: 5 done',
        r'reports it \(epoch 2\)',
        'provider deleted',
    )
    assert re.search('.*'.join(steps), text, re.DOTALL), text
    assert 'Traceback' not in text


def test_interrupted_it_leaves_nothing_running(demo):
    process, said = demo
    deadline = time.monotonic() + PATIENCE
    while 'Two agents of one share' not in said.read_text():
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 130, said.read_text()
    assert 'Traceback' not in said.read_text()
