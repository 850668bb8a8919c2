# SPDX-License-Identifier: Apache-2.0
"""A test that leaves something open fails, by its own name, on each Python."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

SUPPORT = pathlib.Path(__file__).parents[1] / 'support'
PLANTED = """
import contextlib, socket, sqlite3, threading
import leaks, pytest
kept = []

@pytest.fixture
def late():
    yield
    sqlite3.connect(':memory:')

def test_of_a_connection():
    kept.append(sqlite3.connect(':memory:'))

def test_of_a_dropped_connection():
    sqlite3.connect(':memory:')

def test_of_a_connection_in_a_thread():
    one = threading.Thread(target=test_of_a_connection)
    one.start()
    one.join()

def test_of_a_fixture(late):
    pass

def test_of_a_server():
    kept.append(socket.create_server(('127.0.0.1', 0)))

def test_that_fails():
    kept.append(sqlite3.connect(':memory:'))
    assert False

def test_that_closes_all(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / 'a')) as db, db:
        db.execute('create table a (b)')
    socket.create_server(('127.0.0.1', 0)).close()

def test_whose_server_closes_while_one_waits():
    server = socket.create_server(('127.0.0.1', 0))
    kept.append(server)
    sleep = leaks.time.sleep
    leaks.time.sleep = lambda _: (server.close(), setattr(leaks.time, 'sleep', sleep))
"""


@pytest.fixture(scope='module')
def outcome(tmp_path_factory):
    """What pytest prints of the planted tests."""
    file = tmp_path_factory.mktemp('planted') / 'test_planted.py'
    file.write_text(PLANTED)
    done = subprocess.run(
        [
            sys.executable, '-m', 'pytest', '-p', 'leaks', '-p',
            'no:cacheprovider', '-p', 'no:xdist', '-p', 'no:compute_agent',
            '-q', '-rA', f'--rootdir={file.parent}', str(file),
        ],
        capture_output=True, text=True, check=False, timeout=300,
        cwd=file.parent,
        env={
            **os.environ,
            'PYTHONPATH': str(SUPPORT),
            'COMPUTE_AGENT_LEAK_SECONDS': '1',
        },
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ('test', 'opened'),
    [
        ('test_of_a_connection', 'a connection to SQLite, opened at {}:12'),
        ('test_of_a_dropped_connection', 'a connection to SQLite, .*{}:15'),
        ('test_of_a_connection_in_a_thread', 'a connection to SQLite, .*:12'),
        ('test_of_a_fixture', 'a connection to SQLite, opened at {}:9'),
        ('test_of_a_server', 'a bound socket, opened at {}:26'),
    ],
)
def test_what_is_left_open_fails_the_test_that_opened_it(
    outcome, test, opened
):
    place = re.escape('test_planted.py')
    assert re.search(
        rf'ERROR at teardown of {test} _+\nleft open:\n'
        + opened.format(rf'\S*{place}'),
        outcome,
    ), outcome


def test_a_failure_is_told_alone(outcome):
    assert 'FAILED test_planted.py::test_that_fails' in outcome
    assert 'ERROR test_planted.py::test_that_fails' not in outcome


@pytest.mark.parametrize(
    'test',
    ['test_that_closes_all', 'test_whose_server_closes_while_one_waits'],
)
def test_what_is_closed_in_time_passes(outcome, test):
    assert f'PASSED test_planted.py::{test}' in outcome
    assert f'ERROR test_planted.py::{test}' not in outcome
