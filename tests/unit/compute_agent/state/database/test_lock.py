# SPDX-License-Identifier: Apache-2.0
"""One process writes to a state directory; its lock ends with it."""

import contextlib
import os
import subprocess
import sys

import pytest

from compute_agent import errors, file_trust
from compute_agent.state.database import lock

HOLDER = """
import pathlib, sys
from compute_agent.state.database import lock
with lock.hold(pathlib.Path(sys.argv[1])):
    print('held', flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the directory's lock."""
    with subprocess.Popen(
        [sys.executable, '-c', HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == 'held\n'
        yield process
        if process.poll() is None:
            process.kill()


def test_a_second_process_is_refused_with_the_pid_of_the_first(
    tmp_path, holder
):
    with (
        pytest.raises(errors.ConfigError, match=f'process {holder.pid} '),
        lock.hold(tmp_path),
    ):
        pytest.fail('held twice')


def test_a_refusal_leaves_the_holders_name(tmp_path, holder):
    for _ in range(2):
        with (
            pytest.raises(errors.ConfigError, match=str(holder.pid)),
            lock.hold(tmp_path),
        ):
            pytest.fail('held twice')


def test_the_lock_is_free_when_its_holder_is_killed(tmp_path, holder):
    holder.kill()
    holder.wait()
    with lock.hold(tmp_path):
        assert (tmp_path / 'lock').read_text() == f'{os.getpid()}\n'


def test_the_lock_is_free_when_its_holder_is_done(tmp_path, holder):
    holder.communicate('\n')
    assert holder.returncode == 0
    with lock.hold(tmp_path):
        pass


def test_it_is_given_back_after_an_error_inside(tmp_path):
    with pytest.raises(ZeroDivisionError), lock.hold(tmp_path):
        _ = 1 / 0
    with lock.hold(tmp_path):
        pass


def test_it_is_not_held_twice_in_one_process_either(tmp_path):
    with (
        lock.hold(tmp_path),
        pytest.raises(errors.ConfigError, match=str(os.getpid())),
        lock.hold(tmp_path),
    ):
        pytest.fail('held twice')


def test_two_directories_are_two_locks(tmp_path):
    with lock.hold(tmp_path), lock.hold(tmp_path / 'other'):
        pass


def test_a_shorter_pid_leaves_nothing_of_a_longer_one(tmp_path):
    (tmp_path / 'lock').write_text('999999999999\n')
    with lock.hold(tmp_path):
        assert (tmp_path / 'lock').read_text() == f'{os.getpid()}\n'


def test_children_do_not_inherit_it(tmp_path):
    """A child that outlives the agent must not keep the lock."""
    with contextlib.ExitStack() as stack:
        with lock.hold(tmp_path):
            child = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, '-c', 'print(1, flush=True); input()'],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    close_fds=False,
                )
            )
            child.stdout.readline()
        with lock.hold(tmp_path):
            child.communicate(b'\n')


def test_the_file_is_for_its_owner_alone(tmp_path):
    with lock.hold(tmp_path):
        assert (tmp_path / 'lock').stat().st_mode & 0o777 == 0o600


def test_the_file_is_for_its_owner_alone_whatever_it_was_before(tmp_path):
    (tmp_path / 'lock').touch()
    (tmp_path / 'lock').chmod(0o666)
    with lock.hold(tmp_path):
        assert (tmp_path / 'lock').stat().st_mode & 0o777 == 0o600


def test_nothing_is_truncated_through_a_link(tmp_path):
    target = tmp_path / 'target'
    target.write_text('precious')
    directory = tmp_path / 'state'
    directory.mkdir()
    (directory / 'lock').symlink_to(target)
    with (
        pytest.raises(errors.ConfigError, match='lock is a link'),
        lock.hold(directory),
    ):
        pytest.fail('held')
    assert target.read_text() == 'precious'


def test_a_named_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / 'lock')
    with (
        pytest.raises(errors.ConfigError, match='not a regular file'),
        lock.hold(tmp_path),
    ):
        pytest.fail('held')


@pytest.mark.parametrize('mode', [0o775, 0o757, 0o1777])
def test_a_directory_that_others_may_write_to_is_refused(tmp_path, mode):
    directory = tmp_path / 'state'
    directory.mkdir()
    directory.chmod(mode)
    with (
        pytest.raises(errors.ConfigError, match=f'chmod go-w {directory}'),
        lock.hold(directory),
    ):
        pytest.fail('held')
    assert list(directory.iterdir()) == []


def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, 'geteuid', lambda: 60_001)
    monkeypatch.setattr(file_trust, '_ROOT', 60_002)
    with (
        pytest.raises(errors.ConfigError, match='runs as user 60001: run it'),
        lock.hold(tmp_path),
    ):
        pytest.fail('held')
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_is_refused_by_its_option(tmp_path):
    (tmp_path / 'file').write_text('')
    with (
        pytest.raises(errors.ConfigError, match='state_path'),
        lock.hold(tmp_path / 'file'),
    ):
        pytest.fail('held')


def test_the_last_daemon_is_remembered_also_after_commands(tmp_path):
    assert lock.last_daemon(tmp_path) == ''
    with lock.hold(tmp_path):
        assert lock.last_daemon(tmp_path) == ''
    for daemon in ('a long line about a daemon', 'another one'):
        with lock.hold(tmp_path, daemon):
            pass
        for _ in range(2):
            with lock.hold(tmp_path):
                assert lock.last_daemon(tmp_path) == daemon
    assert (tmp_path / 'lock').read_text() == f'{os.getpid()}\nanother one\n'


def test_a_strange_lock_file_tells_of_no_daemon_or_in_one_line(tmp_path):
    (tmp_path / 'lock').write_bytes(b'1\n\xff\x1b[2J' + b'x' * 9999)
    told = lock.last_daemon(tmp_path)
    assert told.isprintable()
    assert len(told) < 600
    assert lock.last_daemon(tmp_path / 'lock') == ''
