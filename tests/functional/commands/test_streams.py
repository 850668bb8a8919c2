# SPDX-License-Identifier: Apache-2.0
"""Stdout and stderr that are full, closed, or read by nobody."""

import os
import subprocess
import sys

import pytest

COMMANDS = [
    ('complete',),
    ('driver', 'list', '-f', 'json'),
    *(
        pytest.param(words, marks=pytest.mark.long)
        for words in (('--help',), ('--version',), ('plan', '--help'))
    ),
]
PROGRAM = (sys.executable, '-m', 'compute_agent.cmd.app.main')


@pytest.fixture(
    params=['', pytest.param('1', marks=pytest.mark.long)],
    ids=['buffered', 'unbuffered'],
)
def run(request):
    """Run the program with a redirection, as a shell does it."""

    def shell(words, redirection='', stdout=subprocess.PIPE):
        return subprocess.run(
            ['sh', '-c', f'exec "$@" {redirection}', '', *PROGRAM, *words],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, 'PYTHONUNBUFFERED': request.param},
        )

    return shell


@pytest.mark.long_except(every=7)
@pytest.mark.parametrize('words', COMMANDS, ids=' '.join)
@pytest.mark.parametrize(
    ('redirection', 'why'),
    [('>/dev/full', 'No space left on device'), ('>&-', 'stdout is closed')],
)
def test_what_cannot_be_written_is_one_line(run, words, redirection, why):
    ended = run(words, redirection)
    assert ended.stderr == f'compute-agent: cannot write: {why}\n'
    assert ended.returncode == 1


@pytest.mark.long_except(every=4)
@pytest.mark.parametrize('words', COMMANDS, ids=' '.join)
def test_a_reader_that_has_gone_is_no_error_of_ours(run, words):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, 'wb') as closed:
        ended = run(words, stdout=closed)
    assert (ended.returncode, ended.stderr) == (141, '')


@pytest.mark.long_except(every=4)
@pytest.mark.parametrize('redirection', ['2>/dev/full', '2>&-'])
def test_a_remark_that_nobody_can_read_is_no_error(run, redirection):
    ended = run(('driver', 'list', '-f', 'value'), redirection)
    assert (ended.returncode, ended.stderr) == (0, '')
    assert 'libvirt' in ended.stdout


@pytest.mark.long_except(every=4)
@pytest.mark.parametrize('redirection', ['2>/dev/full', '2>&-'])
def test_an_error_that_nobody_can_read_is_one_all_the_same(run, redirection):
    ended = run(('probe', '--config-file', '/nowhere'), redirection)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, '', '')


@pytest.mark.parametrize('streams', ['>&- 2>&-', '>/dev/full 2>/dev/full'])
def test_with_neither_stream_the_exit_code_is_left(run, streams):
    ended = run(('complete',), streams)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, '', '')
