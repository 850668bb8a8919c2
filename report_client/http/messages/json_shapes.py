# SPDX-License-Identifier: Apache-2.0
"""Checked conversions of the JSON values in placement's answers.

Pure: no I/O, configuration, logging or clock. ``codec.py`` and
``codec_allocations.py`` build values with them. An answer of another shape
than documented raises ``MalformedAnswer``; no part of it is used.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from compute_agent import error_text

from ... import errors

_T = TypeVar('_T')

# The largest integer that SQLite keeps. Placement's own are much smaller.
MOST = 2**63 - 1
_SURROGATE = re.compile('[\ud800-\udfff]')


def parse(read: Callable[[], _T], body: object) -> _T:
    """Return the value that ``read`` makes of an answer.

    :param read: raises KeyError, TypeError or ValueError for a wrong shape
    :param body: the answer, for the message
    :raises errors.MalformedAnswer: the body is not as documented
    """
    try:
        return read()
    except (KeyError, TypeError, ValueError) as exc:
        raise malformed(body, exc) from exc


def malformed(body: object, exc: Exception) -> errors.MalformedAnswer:
    """Return the error for JSON that is not as documented."""
    return errors.MalformedAnswer(
        "placement's answer does not have the documented shape: "
        f'{_beginning(body)} ({type(exc).__name__}: {error_text.short(exc)})'
    )


def _beginning(body: object) -> str:
    """Return the first 120 characters of a body, as Python spells them."""
    try:
        return repr(str(body)[:120])
    except (RecursionError, ValueError):  # too deep, or too long a number
        return f'a value of type {type(body).__name__}'


def no_json(start: object) -> errors.MalformedAnswer:
    """Return the error for a body that is not JSON.

    :param start: the first characters of the body
    """
    return errors.MalformedAnswer(
        f"placement's answer is not JSON: {start!r}; does another service use "
        'that address?'
    )


def generation(body: Mapping[str, Any]) -> int:
    """Return the provider's generation from the answer to a read or write."""
    return count(body['resource_provider_generation'])


def strings(value: object) -> frozenset[str]:
    """Return an array of strings as a set."""
    return frozenset(string(item) for item in sequence(value))


def known_names(value: object) -> frozenset[str]:
    """Return the names in an array of all that placement knows.

    A name that is not Unicode is left out. The agent could not use such a
    name, so the other names still count as known.
    """
    return frozenset(
        string(item)
        for item in sequence(value)
        if not (isinstance(item, str) and _is_broken(item))
    )


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object, or raise TypeError."""
    if not isinstance(value, dict):
        raise TypeError(f'{error_text.excerpt(value)} is not an object')
    return value


def sequence(value: object) -> list[Any]:
    """Return a JSON array, or raise TypeError."""
    if not isinstance(value, list):
        raise TypeError(f'{error_text.excerpt(value)} is not an array')
    return value


def string(value: object) -> str:
    """Return a string, or raise TypeError or ValueError.

    JSON can spell half of a character, which no database and no terminal
    takes.
    """
    if not isinstance(value, str):
        raise TypeError(f'{error_text.excerpt(value)} is not a string')
    if _is_broken(value):
        raise ValueError(f'{error_text.excerpt(value)} is not Unicode')
    return value


def _is_broken(text: str) -> bool:
    return not text.isascii() and _SURROGATE.search(text) is not None


def count(value: object) -> int:
    """Return a whole number from 0, or raise TypeError or ValueError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f'{error_text.excerpt(value)} is not a whole number')
    if value > MOST:
        raise ValueError(f'{error_text.excerpt(value)} is above 2**63 - 1')
    if value < 0:
        raise ValueError(f'{error_text.excerpt(value)} is below 0')
    return value
