# SPDX-License-Identifier: Apache-2.0
"""The commands of a page, as a reader runs them in the world of a test.

``compute-agent`` runs in this process, with the configuration of the world in
place of the files that the page names. A line with a pipe, a redirection or a
variable is run by bash. A question at a terminal is answered with no.
"""

import contextlib
import dataclasses
import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

import command_line
import pages
import pytest

PROGRAM = 'compute-agent'
QUESTION = 'go on? [y/N]'
_CONTINUED = re.compile(r'\\\n\s*')
_ALIAS = re.compile(r"alias (\w+)='(.*)'")
_ASSIGNMENT = re.compile(r'(\w+)=(\S+)')
_OPTIONS_OF_FILES = re.compile(r" --config-file [^\s']+")
# Programs of others on the pages, as far as the pages use them.
_PRETENDED = {
    'jq': """
import json, sys
seen = json.load(open(sys.argv[-1]))
print(seen['generation'] if '-r' not in sys.argv else '\\n'.join(seen['traits']))
""",
    'uuidgen': 'import uuid\nprint(uuid.uuid4())\n',
}
_SHELL = re.compile(r'[$|<>&]|^\S+=|^(?!compute-agent )')


@dataclasses.dataclass(slots=True)
class Reader:
    """Runs commands one after the other, in a folder.

    :ivar alias: the name that the page gives to the program
    :ivar environment: the variables that the page has set
    """

    cli: command_line.CommandLine
    folder: pathlib.Path
    monkeypatch: pytest.MonkeyPatch
    alias: str = PROGRAM
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the programs that the shell finds."""
        programs = self.folder / 'bin'
        programs.mkdir(parents=True)
        start = f'{sys.executable} -m compute_agent.cmd.app.start'
        needed = {
            PROGRAM: f'#!/bin/sh\nexec {start} --config-file {self.cli.config} "$@"\n',
            **{
                name: f'#!{sys.executable}\n{script}'
                for name, script in _PRETENDED.items()
                if not shutil.which(name)
            },
        }
        for name, script in needed.items():
            (programs / name).write_text(script)
            (programs / name).chmod(0o755)
        self.environment['PATH'] = f'{programs}:{os.environ["PATH"]}'

    def run(self, text: str) -> tuple[int, str]:
        """Run a command; return its exit code and what it printed."""
        line = _OPTIONS_OF_FILES.sub('', _CONTINUED.sub('', text))
        if alias := _ALIAS.match(line):
            self.alias = alias[1]
            return 0, ''
        if line.startswith(f'{self.alias} '):
            line = line.replace(self.alias, PROGRAM, 1)
        if assignment := _ASSIGNMENT.fullmatch(line):
            code, value = self._shell(f'echo {assignment[2]}')
            self.environment[assignment[1]] = value.strip()
            return code, ''
        if _SHELL.search(line):
            return self._shell(line)
        with self._terminal(), contextlib.chdir(self.folder):
            words = shlex.split(line, comments=True)
            done = self.cli.run(*words[1:])
        return done.code, done.err + done.out

    def _shell(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ['bash', '-o', 'pipefail', '-c', line], cwd=self.folder,
            capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    @contextlib.contextmanager
    def _terminal(self) -> Iterator[None]:
        """Have the command ask at a terminal, where the answer is no."""
        ours, theirs = pty.openpty()
        os.write(ours, b'n\n')
        with os.fdopen(theirs) as terminal, self.monkeypatch.context() as now:
            now.setattr('sys.stdin', terminal)
            yield
        os.close(ours)


def placed(
    command: pages.Command, replaced: Mapping[str, str]
) -> pages.Command:
    """Return a command with the places and addresses of this world."""
    text, shown = command.text, command.shown
    for before, after in replaced.items():
        text = text.replace(before, after)
        shown = shown.replace(before, after)
    return dataclasses.replace(command, text=text, shown=shown)


def difference(command: pages.Command, code: int, printed: str) -> str:
    """Return what differs from the page, or nothing."""
    if QUESTION in printed:
        printed = printed[: printed.index(QUESTION)] + f'{QUESTION}\n'
    printed = ''.join(f'{n.rstrip()}\n' for n in printed.splitlines())
    same = not command.shown or re.fullmatch(
        pages.like(command.shown), printed
    )
    failed = code not in {0, 2} and not command.shown
    if same and not failed:
        return ''
    return f'{command}: exit code {code}, and it prints\n{printed}'
