# SPDX-License-Identifier: Apache-2.0
"""A program of the host has a deadline, and its failure is an error.

White-box: a program that cannot be killed is made by keeping its pipe open.
"""

import sys

import pytest

from compute_agent import errors
from drivers.libvirt.reading import sources


def python(text):
    return sys.executable, '-c', text


def test_its_output_is_returned():
    assert sources.Commands()(python('print("7 é")')) == '7 é\n'


def test_it_gets_no_shell_and_no_input():
    text = 'import sys; print(sys.argv[1:], sys.stdin.read())'
    assert sources.Commands()([*python(text), '$HOME; x']) == (
        "['$HOME; x'] \n"
    )


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('raise SystemExit(3)', 'failed: 3'),
        ('import sys; sys.exit("no\\nsuch  pool")', 'failed: such pool'),
        (
            (
                'import sys; sys.exit("2026-01-02T03:04:05.678+0000 7f1c2a -1 '
                'no keyring")'
            ),
            'failed: no keyring',
        ),
    ],
)
def test_a_failure_is_told_in_one_line_that_stays_the_same(text, message):
    with pytest.raises(errors.DriverError) as failed:
        sources.Commands()(python(text))
    assert str(failed.value).endswith(message)


def test_a_program_that_is_missing_is_named():
    with pytest.raises(
        errors.DriverError, match='no-such-program cannot be run: No such file'
    ):
        sources.Commands()(['no-such-program'])


def test_a_program_that_takes_too_long_is_killed():
    slow = python('import time; time.sleep(3600)')
    with pytest.raises(errors.DriverError, match='within 0.01 seconds'):
        sources.Commands(deadline=0.01)(slow)


def test_a_program_that_cannot_be_killed_is_not_started_again(monkeypatch):
    run = sources.Commands(deadline=0.01)
    started = []
    start = sources._start

    def unkillable(key):
        process = start(key)
        monkeypatch.setattr(process, 'kill', lambda: None)
        started.append(process)
        return process

    monkeypatch.setattr(sources, '_GRACE', 0.01)
    monkeypatch.setattr(sources, '_start', unkillable)
    slow = python('import time; time.sleep(3600)')
    with pytest.raises(errors.DriverError, match='did not finish'):
        run(slow)
    with pytest.raises(errors.DriverError, match='still hangs'):
        run(slow)
    assert len(started) == 1
    started[0].send_signal(9)
    started[0].wait()
    with pytest.raises(errors.DriverError, match='did not finish'):
        run(slow)
    assert len(started) == 2
    started[1].send_signal(9)
    started[1].communicate()
