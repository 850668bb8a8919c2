# SPDX-License-Identifier: Apache-2.0
"""The shapes that parts of placement's answers have, each checked.

Pure: no I/O, configuration, logging or clock. Used by ``codec.py`` and its
like, which know what an answer is made of: whatever is not as documented
raises ``MalformedAnswer`` and is taken for nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from compute_agent import error_text

from .. import errors

_T = TypeVar('_T')


def parse(read: Callable[[], _T], body: object) -> _T:
    """Return what reading an answer gives.

    :raises errors.MalformedAnswer: it is not as documented
    """
    try:
        return read()
    except (KeyError, TypeError, ValueError) as exc:
        raise malformed(body, exc) from exc


def malformed(body: object, exc: Exception) -> errors.MalformedAnswer:
    """Return the error for JSON that is not as documented, and why."""
    return errors.MalformedAnswer(
        'placement answered JSON of another shape than documented: '
        f'{str(body)[:120]!r} ({type(exc).__name__}: {exc})'
    )


def no_json(start: object) -> errors.MalformedAnswer:
    """Return the error for a body that is no JSON, by how it begins."""
    return errors.MalformedAnswer(
        f'placement answered no JSON: {start!r}; is there something else at '
        'that address?'
    )


def generation(body: Mapping[str, Any]) -> int:
    """Return the generation of the provider that the answer is about."""
    return count(body['resource_provider_generation'])


def strings(value: object) -> frozenset[str]:
    """Return an array of strings as a set."""
    return frozenset(string(item) for item in sequence(value))


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object."""
    if not isinstance(value, dict):
        raise TypeError(f'{error_text.excerpt(value)} is no object')
    return value


def sequence(value: object) -> list[Any]:
    """Return an array."""
    if not isinstance(value, list):
        raise TypeError(f'{error_text.excerpt(value)} is no array')
    return value


def string(value: object) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise TypeError(f'{error_text.excerpt(value)} is no string')
    return value


def count(value: object) -> int:
    """Return a whole number, 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f'{error_text.excerpt(value)} is no number')
    if value < 0:
        raise ValueError(f'{error_text.excerpt(value)} is below 0')
    return value
