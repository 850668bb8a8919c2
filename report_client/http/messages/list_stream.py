# SPDX-License-Identifier: Apache-2.0
"""Decode a long list of providers row by row while its body arrives.

Pure: no I/O, configuration, logging or clock. ``observe/reader.py`` passes it
the chunks of a body. A list of 50,000 providers is 40 MB of text; as Python
objects it takes four times as much memory. This module has only a few rows as
text at a time, decodes one of them, and makes a ``codec.ListedProvider`` of
it. This takes 13 MiB instead of 180, and 0.6 to 1.0 of the time of
``json.loads`` (``make bench-rows``). ijson takes a quarter more time than this
module, and reads a missing list as an empty one.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from compute_agent.tree import provider

from ... import errors
from . import codec, json_shapes

# More than any placement has; a server that goes on is broken or hostile.
MOST_ROWS = 1_000_000
MOST_ROW = 1 << 20  # characters
MOST_REST = 64 << 20  # characters before or after the rows

CHUNK = 65_536  # bytes, then characters; a larger chunk saves no time

_KEY = 'resource_providers'
_BLANK = ' \t\n\r'  # the whitespace of JSON
_ANY = f'[{_BLANK}]*'
_OPENING = re.compile(rf'\{{{_ANY}"{_KEY}"{_ANY}:{_ANY}\[{_ANY}(?=\{{)')
_AFTER = re.compile(rf'{_ANY}([],]){_ANY}')
_DECODE = json.JSONDecoder().raw_decode
# A row as placement writes nearly all of them: these keys in this order, and
# texts of which JSON escapes no character. It matches nothing that JSON would
# read in another way; any other row is decoded.
_UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
_PLAIN = r'"[ !#-\[\]-~]++"'
_LINK = rf'\{{"(?:rel|href)": {_PLAIN}, "(?:rel|href)": {_PLAIN}\}}'
_USUAL = re.compile(
    rf'\{{"uuid": "({_UUID})", "name": "([ !#-\[\]-~]+)", '
    r'"generation": (0|[1-9][0-9]{0,17}), '
    rf'"links": \[{_LINK}(?:, {_LINK})*\], '
    rf'"parent_provider_uuid": (?:null|"({_UUID})"), '
    rf'"root_provider_uuid": "({_UUID})"\}}{_AFTER.pattern}'
)


def listed_providers(
    chunks: Iterable[bytes], at_once: int = CHUNK
) -> list[codec.ListedProvider]:
    """Return all providers of a list.

    :param chunks: the body
    :param at_once: characters that are collected before rows are decoded
    :raises errors.MalformedAnswer: a part of the body is not as documented
    """
    text = _Text(chunks, at_once)
    found: list[codec.ListedProvider] = []
    known: dict[str, str] = {}
    try:
        for row in _rows(text):
            found.append(
                _usual(row, known)
                if isinstance(row, re.Match)
                else codec.listed_provider(row, known)
            )
            if len(found) > MOST_ROWS:
                raise _too_many()
    except (RecursionError, ValueError) as exc:
        raise _no_list(text, found) from exc
    return found


class _Text:
    """A body as text, decoded only as far as needed.

    :ivar start: its first 60 characters
    :ivar ended: True when all of it has arrived
    """

    def __init__(self, chunks: Iterable[bytes], at_once: int) -> None:
        self._parts = codecs.iterdecode(chunks, 'utf-8')
        self._at_once = at_once
        self.start = ''
        self.ended = False

    def more(self, pending: str) -> str:
        """Return the pending text, at least doubled if there is more.

        The text doubles, so that a row longer than a chunk is tried a few
        times, not once for each chunk.
        """
        wanted = max(self._at_once, len(pending))
        parts = [pending]
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

    def rest(self, pending: str) -> str:
        """Return the pending text and the whole remaining text.

        :raises ValueError: the text is too long
        """
        parts, length = [pending], len(pending)
        for part in self._parts:
            parts.append(part)
            length += len(part)
            if length > MOST_REST:
                raise ValueError('too long')
        return ''.join(parts)


def _rows(text: _Text) -> Iterator[Any]:
    """Yield each row decoded; a row of the usual form as its match.

    :raises ValueError, RecursionError: the text is not JSON
    """
    pending = text.more('')
    opening = _OPENING.match(pending)
    if opening is None:
        yield from _whole(text.rest(pending))
        return
    at, after = opening.end(), ','
    while after == ',':
        row = end = _USUAL.match(pending, at)
        if end is None:
            row, end = _row(pending, at)
        if end is None and (text.ended or len(pending) - at > MOST_ROW):
            raise ValueError('incomplete row')
        if end is None:
            pending, at = text.more(pending[at:]), 0
            continue
        yield row
        at, after = end.end(), end[end.lastindex or 1]
    _check_end(text.rest(pending[at:]))


def _row(text: str, at: int) -> tuple[Any, re.Match[str] | None]:
    """Return the row that begins here, and the match of its delimiter.

    The match is None if the row does not end in this text: it is malformed, or
    the chunk cuts it off.
    """
    try:
        row, end = _DECODE(text, at)
    except ValueError:
        return None, None
    return row, _AFTER.match(text, end)


def _usual(row: re.Match[str], known: dict[str, str]) -> codec.ListedProvider:
    """Return the provider of a row that is written as usual.

    :param known: as for ``codec.listed_provider``
    """
    uuid, name, generation, parent, root, _ = row.groups()
    return codec.ListedProvider(
        uuid=uuid,
        name=name,
        generation=int(generation),
        parent_uuid=parent and known.setdefault(parent, parent),
        root_uuid=uuid if root == uuid else known.setdefault(root, root),
    )


def _whole(text: str) -> list[Any]:
    """Return the rows of a body that does not begin with a non-empty list.

    The list is empty, or comes after another key, or the body is no list. The
    last two are rare, so the body is decoded at once.
    """
    body = json.loads(text) if text else None
    return json_shapes.parse(
        lambda: json_shapes.sequence(json_shapes.mapping(body)[_KEY]), body
    )


def _check_end(text: str) -> None:
    """Check the end of a body after its list.

    :raises ValueError: the end is malformed, or has a second list
    """
    if _KEY in json.loads('{"": []' + text):
        raise ValueError(f'{_KEY} twice')


def _too_many() -> errors.MalformedAnswer:
    """Return the error for a list that seems to have no end."""
    return errors.MalformedAnswer(
        f"placement's list of providers has more than {MOST_ROWS} providers: "
        'check the proxies in front of it'
    )


def _no_list(
    text: _Text, found: list[codec.ListedProvider]
) -> errors.MalformedAnswer:
    """Return the error for a body that is malformed after these rows."""
    if not found:
        return json_shapes.no_json(text.start)
    last = provider.title(found[-1].name, found[-1].uuid)
    return errors.MalformedAnswer(
        "placement's list of providers breaks off or is malformed after "
        f'{len(found)} providers; the last one is {last}'
    )
