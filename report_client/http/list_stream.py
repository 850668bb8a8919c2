# SPDX-License-Identifier: Apache-2.0
"""The rows of a long list, read while its body still comes.

Pure: no I/O, configuration, logging or clock. ``observe/reader.py`` hands it the chunks
of a body. All of 50,000 providers at once are 40 MB of text and four times as
much of Python's objects; here only a few are text, one is an object, and what
stays of each is a ``codec.ListedProvider``: 13 MiB in place of 180, in no more time than
``json.loads`` takes (0.6 to 1.0 of it; ``make bench-rows``). ijson takes a
quarter more, and takes a list that is not there for one of no providers.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from compute_agent.tree import provider

from .. import errors
from . import codec, json_shapes

CHUNK = 65_536  # of bytes, then of characters; more saves no time

_KEY = 'resource_providers'
_BLANK = ' \t\n\r'  # what JSON takes for it
_ANY = f'[{_BLANK}]*'
_OPENING = re.compile(rf'\{{{_ANY}"{_KEY}"{_ANY}:{_ANY}\[{_ANY}(?=\{{)')
_AFTER = re.compile(rf'{_ANY}([],]){_ANY}')
_DECODE = json.JSONDecoder().raw_decode


def listed_providers(
    chunks: Iterable[bytes], at_once: int = CHUNK
) -> list[codec.ListedProvider]:
    """Return the rows of a list of providers: all of them.

    :param at_once: how many characters are gathered before rows are sought
    :raises errors.MalformedAnswer: any of the body is not as documented
    """
    text = _Text(chunks, at_once)
    found: list[codec.ListedProvider] = []
    known: dict[str, str] = {}
    try:
        for row in _rows(text):
            found.append(codec.listed_provider(row, known))  # noqa: PERF401 (kept if cut)
    except (RecursionError, ValueError) as exc:
        raise _no_list(text, found) from exc
    return found


class _Text:
    """A body as text, decoded as far as it is wanted.

    :ivar start: its first characters
    :ivar ended: whether all of it has come
    """

    def __init__(self, chunks: Iterable[bytes], at_once: int) -> None:
        self._parts = codecs.iterdecode(chunks, 'utf-8')
        self._at_once = at_once
        self.start = ''
        self.ended = False

    def more(self, left: str) -> str:
        """Return what is left and at least as much again, if it comes.

        So a value longer than a chunk is tried a few times, not for each.
        """
        wanted = max(self._at_once, len(left))
        parts = [left]
        for part in self._parts:
            parts.append(part)
            wanted -= len(part)
            if wanted <= 0:
                break
        else:
            self.ended = True
        text = ''.join(parts).lstrip(_BLANK)
        self.start = self.start or text[:60]
        return text

    def rest(self, left: str) -> str:
        """Return what is left and all that still comes."""
        return left + ''.join(self._parts)


def _rows(text: _Text) -> Iterator[Any]:
    """Yield each row as it is decoded.

    :raises ValueError, RecursionError: it is no JSON
    """
    left = text.more('')
    opening = _OPENING.match(left)
    if opening is None:
        yield from _whole(text.rest(left))
        return
    at, after = opening.end(), ','
    while after == ',':
        row, end = _row(left, at)
        if end is None and text.ended:
            raise ValueError('no whole row')
        if end is None:
            left, at = text.more(left[at:]), 0
            continue
        yield row
        at, after = end.end(), end[1]
    _check_end(text.rest(left[at:]))


def _row(text: str, at: int) -> tuple[Any, re.Match[str] | None]:
    """Return the row that begins here, and the match of what ends it.

    None if it does not end here: it may be wrong, or be cut off by the chunk.
    """
    try:
        row, end = _DECODE(text, at)
    except ValueError:
        return None, None
    return row, _AFTER.match(text, end)


def _whole(text: str) -> list[Any]:
    """Return the rows of what does not begin as a list of some rows.

    That is an empty list, one that stands behind something else, or another
    thing: the last two are rare, and may be read all at once.
    """
    body = json.loads(text) if text else None
    return json_shapes.parse(
        lambda: json_shapes.sequence(json_shapes.mapping(body)[_KEY]), body
    )


def _check_end(text: str) -> None:
    """Refuse a body that does not end as one after its list.

    :raises ValueError: it does not, or it holds a second list
    """
    if _KEY in json.loads('{"": []' + text):
        raise ValueError(f'two of {_KEY}')


def _no_list(
    text: _Text, found: list[codec.ListedProvider]
) -> errors.MalformedAnswer:
    """Return the error for a body that is no JSON, by how much of it was."""
    if not found:
        return json_shapes.no_json(text.start)
    last = provider.title(found[-1].name, found[-1].uuid)
    return errors.MalformedAnswer(
        'placement answered a list of providers that breaks off or goes wrong '
        f'after {len(found)}, the last of them {last}'
    )
