# SPDX-License-Identifier: Apache-2.0
"""Damaged forms of a text, as a kernel, a libvirt or a disk may give them.

A mutation is a function of a random source and a text. ``unreadable`` are
those after which the text certainly tells nothing any more.
"""

import collections.abc
import random
import re

Mutation = collections.abc.Callable[[random.Random, str], str | None]

_JUNK = '\x00\t\n <>&;:-,\'"=/0149aZ\N{BOM}\N{ZERO WIDTH SPACE}\N{CAT}é'
_NUMBERS = ('-1', '0', '1', '9' * 30, '0x', '1e9', 'NaN', '', '٣', '4-0')
_ELEMENT = re.compile(r'<([\w-]+)(?: [^<>]*)?/>|<([\w-]+)[^<>]*>[^<>]*</\2>')
_ATTRIBUTE = re.compile(r"(?<==')[^']*(?=')")
_TAG = re.compile(r'(?<=</)[\w-]+(?=>)|(?<=<)[\w-]+')
_ENTITY = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n'


def missing(_: random.Random, __: str) -> None:
    """The file is not there."""


def empty(_: random.Random, __: str) -> str:
    """The file has nothing in it."""
    return ''


def cut(rng: random.Random, text: str) -> str:
    """The text ends somewhere."""
    return text[: rng.randrange(len(text) or 1)]


def lost(rng: random.Random, text: str) -> str:
    """A part of the text is gone."""
    begin, end = _span(rng, text)
    return text[:begin] + text[end:]


def repeated(rng: random.Random, text: str) -> str:
    """A part of the text is there twice."""
    begin, end = _span(rng, text)
    return text[:end] + text[begin:]


def junk(rng: random.Random, text: str) -> str:
    """Some characters are others."""
    chars = list(text or ' ')
    for _ in range(rng.randint(1, 4)):
        chars[rng.randrange(len(chars))] = rng.choice(_JUNK)
    return ''.join(chars)


def number(rng: random.Random, text: str) -> str:
    """A number is another, or none."""
    return _other(rng, re.compile(r'\d+'), text, rng.choice(_NUMBERS))


def no_element(rng: random.Random, text: str) -> str:
    """An element of the XML is missing."""
    return _other(rng, _ELEMENT, text, '')


def attribute(rng: random.Random, text: str) -> str:
    """An attribute of the XML has another value."""
    values = (*_NUMBERS, 'no', 'yes', 'x' * 300, '&lt;', '../../etc')
    return _other(rng, _ATTRIBUTE, text, rng.choice(values))


def tag(rng: random.Random, text: str) -> str:
    """An element of the XML has another name."""
    return _other(rng, _TAG, text, rng.choice(('device', 'cpu', 'x', '1')))


def is_entity(text: str) -> bool:
    """Return True if the text declares entities."""
    return text.startswith(_ENTITY)


def entity(_: random.Random, text: str) -> str:
    """The XML declares entities."""
    return _ENTITY + text


EVERY: tuple[Mutation, ...] = (
    missing,
    empty,
    cut,
    lost,
    repeated,
    junk,
    number,
    no_element,
    attribute,
    tag,
    entity,
)


def _span(rng: random.Random, text: str) -> tuple[int, int]:
    begin = rng.randrange(len(text) or 1)
    return begin, min(len(text), begin + rng.choice((1, 5, 60, 2000)))


def _other(
    rng: random.Random, pattern: re.Pattern[str], text: str, new: str
) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return junk(rng, text)
    match = rng.choice(found)
    return text[: match.start()] + new + text[match.end() :]
