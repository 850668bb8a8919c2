# SPDX-License-Identifier: Apache-2.0
"""Help of each command, closed pipes, names no terminal can show."""

import os
import subprocess
import sys

import command_line
import pytest

from compute_agent.cmd.app import main


@pytest.mark.parametrize(
    ('words', 'option'),
    [
        (['run', '--help'], '--show-tree'),
        (['probe', '-h'], '--all'),
        (['tree', 'show', '--help'], 'NODE'),
        (['plan', '--help'], 'Exit code 0: nothing to do'),
        (['--help'], 'placement serve'),
    ],
)
def test_each_command_has_its_own_help(words, option, capsys):
    assert main.main(words) == 0
    assert option in ' '.join(capsys.readouterr().out.split())


def program(*words, **options):
    return subprocess.run(
        [sys.executable, '-m', 'compute_agent.cmd.app.main', *words],
        check=False,
        **options,
    )


def test_a_closed_pipe_is_no_error_of_ours(cli):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, 'wb') as closed:
        done = program(
            *('--config-file', str(cli.config)),
            *('probe', '-f', 'json'),
            stdout=closed,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 141
    assert done.stderr == b''


def test_a_name_that_cannot_be_shown_is_shown_somehow(cli):
    text = cli.fake_file.read_text(encoding='utf-8')
    cli.fake_file.write_text(text.replace('cn1', 'Ω'), encoding='utf-8')
    done = program(
        *('--config-file', str(cli.config), 'plan', '-f', 'json'),
        capture_output=True,
        env={**os.environ, 'PYTHONIOENCODING': 'ascii'},
    )
    assert (done.returncode, done.stderr) == (2, b'')
    assert b'\\u03a9' in done.stdout


def test_logs_of_the_daemon_go_to_stderr(cli):
    with subprocess.Popen(
        [
            *(sys.executable, '-m', 'compute_agent.cmd.app.main'),
            *('--config-file', str(cli.config), 'run', '--show-tree'),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as daemon:
        lines = iter(daemon.stdout.readline, '')
        shown = next(line for line in lines if 'in step with' in line)
        daemon.terminate()
        out, err = daemon.communicate(timeout=60)
    assert 'Ctrl-C stops it' in shown
    assert 'INFO' not in out
    assert 'create provider cn1' in err


def test_a_tree_has_its_colours_at_a_terminal_and_no_others(cli):
    text = cli.fake_file.read_text(encoding='utf-8')
    cli.fake_file.write_text(text.replace('name: cn1', r'name: "c\e[31m1"'))
    cli.configure(host=None)
    cli.run('sync')
    reading, writing = command_line.pseudo_terminal()
    done = program(
        *('--config-file', str(cli.config), 'tree', 'show'),
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    with os.fdopen(reading, 'rb', buffering=0) as terminal:
        shown = terminal.read(4096)
    assert done.returncode == 0, done.stderr
    assert b'\x1b[1m' in shown
    assert b'c\\x1b[31m1' in shown
