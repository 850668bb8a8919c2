# SPDX-License-Identifier: Apache-2.0
"""The commands that the pages of docs/ show, and what they say it prints.

A command stands in a ``console`` block, after ``$`` or, for root, ``#``; a
backslash at the end of a line continues it. The lines below it, up to the next
command, are what it prints. There, "…" stands for any text, and alone on a
line for any lines.
"""

import dataclasses
import pathlib
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[2]
ANY = '…'
_BLOCK = re.compile(r'^```console\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(
    r'^(?P<prompt>[$#]) (?P<text>(?:.*\\\n)*.*)\n(?P<shown>(?:(?![$#] ).*\n)*)',
    re.MULTILINE,
)
_UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
_TIME = '[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z'
_DURATION = '[0-9]+(?:[.][0-9]+)? (?:s|min|h|days?)'
_SHAPES = (
    f'(?P<uuid>{_UUID})',
    f'(?P<short>[0-9a-f]{{8}}-{ANY})',
    f'(?P<time>{_TIME})',
    f'(?P<duration>{_DURATION}(?: {_DURATION})*)',
    '(?P<process>process [0-9]+)',
    '(?P<digest>digest [0-9a-f]{16})',
    '(?P<version>compute-agent [0-9]+[.][0-9]+[.][0-9]+)',
)
_SHAPE = re.compile('|'.join(_SHAPES))
_MADE = {
    'short': _UUID,
    'time': _TIME,
    'duration': f'{_DURATION}(?: {_DURATION})*',
    'process': 'process [0-9]+',
    'digest': 'digest [0-9a-f]{16}',
    'version': 'compute-agent [0-9][0-9a-z.+]*',
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command on a page.

    :ivar block: the number of its block on the page, from 0
    :ivar line: its line on the page, from 1
    :ivar shown: what the page says that it prints; empty if it says nothing
    """

    page: str
    block: int
    line: int
    prompt: str
    text: str
    shown: str

    def __str__(self) -> str:
        """Return where it stands, and its first line."""
        return f'{self.page}:{self.line}: {self.text.splitlines()[0]}'


def commands(page: str) -> Iterator[Command]:
    """Yield the commands of a page, which is named from the checkout's root."""
    text = (ROOT / page).read_text(encoding='utf-8')
    for number, block in enumerate(_BLOCK.finditer(text)):
        for found in _COMMAND.finditer(block[1]):
            start = block.start(1) + found.start()
            yield Command(
                page=page,
                block=number,
                line=text.count('\n', 0, start) + 1,
                **found.groupdict(),
            )


def pattern(shown: str) -> str:
    """Return the regular expression of what a command prints."""
    return ''.join(
        '(?:.*\n)*' if line == f'{ANY}\n' else _literal(line)
        for line in shown.splitlines(keepends=True)
    )


def like(shown: str) -> str:
    """Return the regular expression of what a command prints elsewhere.

    It is ``pattern``, and what is made anew each time stands for any of its
    kind: a time, a duration, the number of a process, a digest, the version
    of a checkout. A uuid does so, too, but the same uuid is everywhere the same.
    """
    groups: dict[str, str] = {}
    return ''.join(
        '(?:.*\n)*' if line == f'{ANY}\n' else _line_like(line, groups)
        for line in shown.splitlines(keepends=True)
    )


def _line_like(line: str, groups: dict[str, str]) -> str:
    made, end = [], 0
    for found in _SHAPE.finditer(line):
        made.append(_literal(line[end : found.start()]))
        made.append(_shape(found, groups))
        end = found.end()
    return ''.join([*made, _literal(line[end:])])


def _literal(text: str) -> str:
    return re.escape(text).replace(ANY, '.*')


def _shape(found: re.Match[str], groups: dict[str, str]) -> str:
    kind = str(found.lastgroup)
    if kind != 'uuid':
        return _MADE[kind]
    if found[0] in groups:
        return f'(?P={groups[found[0]]})'
    groups[found[0]] = f'uuid{len(groups)}'
    return f'(?P<{groups[found[0]]}>{_UUID})'
