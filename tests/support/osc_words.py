# SPDX-License-Identifier: Apache-2.0
"""Commands of OpenStack's client, and what that client answers.

``tests/osc_words/commands.txt`` has the commands, ``answers.json`` beside it
the answers, which ``make osc-words`` records: the real client with
osc-placement carries out the commands on an embedded placement, in one
process.
"""

import dataclasses
import itertools
import json
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from typing import Any

from compute_agent.dev import embedded_placement

FOLDER = pathlib.Path(__file__).parents[1] / 'osc_words'
COMMANDS = FOLDER / 'commands.txt'
ANSWERS = FOLDER / 'answers.json'
PAGE = pathlib.Path(__file__).parents[2] / 'docs' / 'osc-words.md'
HEAD = '| command | against the client |'
NEWEST = '1.39'
UUIDS = {
    'CN1': '11111111-1111-4111-8111-111111111111',
    'NUMA0': '22222222-2222-4222-8222-222222222222',
    'SHARE': '33333333-3333-4333-8333-333333333333',
    'SPARE': '44444444-4444-4444-8444-444444444444',
    'AGGREGATE': 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
    'OTHER': 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
    'CONSUMER': 'cccccccc-cccc-4ccc-8ccc-cccccccccccc',
    'PROJECT': 'dddddddddddddddddddddddddddddddd',
    'USER': 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
}
# The client, asked for JSON where it has it. It prints a list of results.
_CLIENT = """
import contextlib, io, json, sys
from openstackclient import shell

found = []
for words in json.load(sys.stdin):
    for form in (['-f', 'json'], []):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = shell.main([
                    '--os-auth-type', 'admin_token', '--os-token', 'admin',
                    '--os-endpoint', sys.argv[1],
                    '--os-placement-api-version', sys.argv[2], *words, *form])
            except SystemExit as exc:
                code = exc.code
        if 'unrecognized arguments: -f' not in err.getvalue():
            break
    found.append([code, out.getvalue(), err.getvalue()])
json.dump(found, sys.stdout)
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of the table.

    :ivar text: as the table has it, with names of uuids
    :ivar differs: where this program differs, and why; '' if nowhere
    :ivar version: the API version that the client is told to use
    """

    text: str
    differs: str
    version: str

    @property
    def words(self) -> list[str]:
        """The words, with the uuids."""
        text = self.text
        for name, uuid in UUIDS.items():
            text = re.sub(rf'\b{name}\b', uuid, text)
        return shlex.split(text)


def commands() -> list[Command]:
    """Return the table."""
    found = []
    for line in COMMANDS.read_text(encoding='utf-8').splitlines():
        if not line or line.startswith('# '):
            continue
        text, _, differs = line.partition(' ## ')
        version = NEWEST
        if text.startswith('@'):
            version, text = text[1:].split(' ', 1)
        found.append(Command(text=text, differs=differs, version=version))
    return found


def answers() -> list[Any]:
    """Return the client's answers: JSON, or None where it prints nothing."""
    found: list[Any] = json.loads(ANSWERS.read_text(encoding='utf-8'))
    return found


def table() -> str:
    """Return the table of the page: each command, and where it differs."""
    rows = [
        f'| `{one.text}` | {one.differs or "the same"} |' for one in commands()
    ]
    return '\n'.join([HEAD, '|---|---|', *rows])


def _recorded(python: str, url: str) -> list[Any]:
    """Return the answers of the real client to all commands.

    A process of the client keeps one API version.
    """
    found: list[Any] = []
    for version, several in itertools.groupby(
        commands(), key=lambda one: one.version
    ):
        batch = list(several)
        done = subprocess.run(
            [python, '-c', _CLIENT, url, version],
            input=json.dumps([one.words for one in batch]),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for one, (code, out, err) in zip(
            batch, json.loads(done.stdout), strict=True
        ):
            if code:
                sys.exit(f'openstack {one.text}: {code}\n{err}')
            found.append(json.loads(out) if out.strip() else None)
    return found


def main() -> None:
    """Record the answers of the client, whose Python is the argument."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'placement.sqlite')
        with embedded_placement.EmbeddedPlacement(path, port=port):
            found = _recorded(sys.argv[1], f'http://127.0.0.1:{port}')
    ANSWERS.write_text(f'{json.dumps(found, indent=1)}\n', encoding='utf-8')
    page = PAGE.read_text(encoding='utf-8')
    head, rest = page.split(HEAD, 1)
    tail = rest.partition('\n\n')[2]
    PAGE.write_text(f'{head}{table()}\n\n{tail}', encoding='utf-8')


if __name__ == '__main__':
    main()
