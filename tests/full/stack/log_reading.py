# SPDX-License-Identifier: Apache-2.0
"""The daemon's log as a stranger reads it: how much it says, and what.

Pure. Nothing secret may be in it, no traceback, and of an outage one line when
it begins and one when it ends.
"""

import collections
import re
from collections.abc import Iterable, Mapping, Sequence

_LEVEL = re.compile(r' (?P<level>INFO|WARNING|ERROR|CRITICAL) (?P<text>.*)')
_VARIES = re.compile(
    r'[0-9a-f]{8}-[0-9a-f-]{27}|req-\S+|\d+(\.\d+)?|0x[0-9a-f]+'
)
# A token of keystone's, whatever was before it.
_TOKEN = re.compile(r'gAAAA[\w-]{20,}')


def counted(lines: Iterable[str]) -> Mapping[str, int]:
    """Return the number of lines by level."""
    found = (_LEVEL.search(line) for line in lines)
    return collections.Counter(m['level'] for m in found if m)


def kinds(lines: Iterable[str]) -> Sequence[tuple[int, str]]:
    """Return the different messages, with how often each was logged.

    Numbers and uuids do not make a message another one.
    """
    count: collections.Counter[str] = collections.Counter()
    for line in lines:
        if match := _LEVEL.search(line):
            text = _VARIES.sub('#', match['text'])
            count[f'{match["level"]} {text[:200]}'] += 1
    return [(n, text) for text, n in count.most_common()]


def repeated(lines: Iterable[str], most: int) -> Sequence[str]:
    """Return the warnings and errors that were logged more often than that."""
    return [
        f'{number} times: {text}'
        for number, text in kinds(lines)
        if number > most and not text.startswith('INFO')
    ]


def secrets(text: str, known: Iterable[str]) -> Sequence[str]:
    """Return the secrets that are in a text.

    :param known: passwords
    """
    found = [secret for secret in known if secret in text]
    return [*found, *_TOKEN.findall(text)]


def problems(lines: Sequence[str]) -> Sequence[str]:
    """Return what must not be in a log, in lines."""
    wrong = [line for line in lines if 'Traceback' in line]
    away = sum('retrying until it is mended' in line for line in lines)
    back = sum(re.search(r'\bback after ', line) is not None for line in lines)
    if back > away:
        wrong.append(f'{away} outages begin and {back} end')
    return wrong
