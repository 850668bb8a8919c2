# SPDX-License-Identifier: Apache-2.0
"""The real shells complete the commands, without a package beside them."""

import json
import shutil
import subprocess

import pytest

from compute_agent.cmd.app import commands, completions

# What each shell does when a person presses the key after these words.
ASK = {
    'bash': """
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _compute_agent
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    # Of zsh's own functions, these two are there only while it completes.
    'zsh': """
        compdef() { : }
        compadd() { shift; print -l -- "$@" }
        source "$1"; shift
        words=("$@"); CURRENT=$#
        _compute_agent
    """,
    'fish': """
        source $argv[1]
        complete -C "$argv[2..]"
    """,
}
WORDS = {'bash': ['--norc', '-c'], 'zsh': ['-fc'], 'fish': ['-N', '-c']}


@pytest.fixture(params=sorted(ASK))
def press(request, tmp_path):
    """Return the function that returns what a shell offers after words."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f'{shell} is not installed')
    options = {name: row['options'] for name, row in commands.table().items()}
    file = tmp_path / 'completion'
    file.write_text(completions.script(shell, 'compute-agent', options))

    def press(*words):
        name = [] if shell == 'fish' else ['sh']
        ran = subprocess.run(
            [
                *(shell, *WORDS[shell], ASK[shell], *name, file),
                *('compute-agent', *words),
            ],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={'PATH': '/usr/bin:/bin', 'HOME': str(tmp_path)},
        )
        assert ran.stderr == ''
        return {line.partition('\t')[0] for line in ran.stdout.split('\n')} - {
            ''
        }

    return press


def test_a_word_is_followed_by_the_next_ones(press):
    first = {name.split()[0] for name in commands.table()}
    offered = press('')
    assert {word for word in offered if not word.startswith('-')} >= first
    assert 'list' in press('driver', '')


def test_options_are_offered_after_a_dash(press):
    assert '--max-age' in press('status', '-')
    # An option before a word does not hide the command.
    assert '--max-age' in press('status', '--all', '--')


def test_a_command_prints_each_script(cli_words):
    for shell in completions.SHELLS:
        assert 'status' in cli_words('complete', '--shell', shell)


@pytest.fixture
def cli_words(capsys):
    from compute_agent.cmd.app import main  # noqa: PLC0415

    def run(*words):
        assert main.main([*words]) == 0
        return capsys.readouterr().out

    return run


def test_every_command_of_the_table_is_reached():
    options = json.loads(commands.TABLE.read_text())
    known = completions.followers(
        {name: row['options'] for name, row in options.items()}
    )
    for name in options:
        words = name.split()
        for size, word in enumerate(words):
            assert word in known[' '.join(words[:size])].split()
