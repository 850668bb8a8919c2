# SPDX-License-Identifier: Apache-2.0
"""The facts in the text of one file that an operator's script writes.

Pure: no I/O, configuration, logging or clock. There are two forms. A file whose
name ends in .yaml or .yml has the keys ``facts`` and, optionally, ``expires``.
Any other file has lines ``name=value`` or ``name``, which is true, as the
*local* source of node-feature-discovery reads them: ``# +expiry-time=TIME``
applies to the lines after it, and ``# +no-feature`` leaves out the next one.
"""

import dataclasses
import datetime as dt
import re
from collections.abc import Iterator, Mapping

from compute_agent import yaml_file

from . import parsing
from .fact import Value

_EXPIRY = '+expiry-time='
_LEFT_OUT = '+no-feature'
_OTHER = re.compile(r'[^a-z0-9_]+')
_NAME_LIMIT = 63

_PLAIN: yaml_file.Schema = {
    'description': 'a text, a number, true or false, or a list of these',
    'type': ['string', 'number', 'boolean', 'array'],
    'items': {
        'description': 'a text, a number, true or false',
        'type': ['string', 'number', 'boolean'],
    },
}
SCHEMA: yaml_file.Schema = {
    'description': 'the keys facts and expires',
    'type': 'object',
    'additionalProperties': False,
    'required': ['facts'],
    'properties': {
        'expires': {
            'description': 'a time such as "2030-01-31T12:00:00Z"',
            'type': 'string',
        },
        'facts': {
            'description': 'names and their values',
            'type': 'object',
            'additionalProperties': _PLAIN,
        },
    },
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LocalFact:
    """One value of a file.

    :ivar name: the name in the family ``local``
    :ivar expires: when the value stops being true; None if it never does
    """

    name: str
    value: Value
    expires: dt.datetime | None = None


def is_yaml(name: str) -> bool:
    """Return True if a file of this name is YAML."""
    return name.endswith(('.yaml', '.yml'))


def parse(text: str, path: str) -> tuple[LocalFact, ...]:
    """Return the facts in a file.

    :raises yaml_file.FileError: the file is wrong; the line says where
    """
    found = _yaml(text, path) if is_yaml(path) else _lines(text, path)
    return tuple(found)


def fact_name(word: str) -> str:
    """Return the name of a fact for a word; empty if it has no letter.

    Letters become small, and anything that a rule cannot write becomes an
    underscore: ``vendor.example/GPU-lock`` is ``vendor_example_gpu_lock``.
    """
    name = _OTHER.sub('_', word.lower()).strip('_')
    return name if len(name) <= _NAME_LIMIT else ''


def _yaml(text: str, path: str) -> Iterator[LocalFact]:
    document = yaml_file.parse(text, path, SCHEMA)
    data: Mapping[str, Value] = document.data['facts']
    expires = None
    if 'expires' in document.data:
        expires = _time(document.data['expires'])
        if expires is None:
            raise document.error(
                'expires is no time with a zone; write one such as '
                '"2030-01-31T12:00:00Z"',
                'expires',
            )
    for word, value in data.items():
        name = fact_name(word)
        if not name:
            raise document.key_error(_bad_name(word), 'facts', word)
        plain = tuple(value) if isinstance(value, list) else value
        yield LocalFact(name=name, value=plain, expires=expires)


def _lines(text: str, path: str) -> Iterator[LocalFact]:
    expires: dt.datetime | None = None
    is_left_out = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith('#'):
            directive = stripped[1:].strip()
            if directive.startswith(_EXPIRY):
                expires = _time(directive.removeprefix(_EXPIRY))
                if expires is None:
                    raise yaml_file.FileError(
                        path,
                        number,
                        '+expiry-time is no time; write one such as '
                        '2030-01-31T12:00:00Z',
                    )
            is_left_out |= directive == _LEFT_OUT
            continue
        if stripped and not is_left_out:
            yield _of_line(stripped, path, number, expires)
        is_left_out &= not stripped


def _of_line(
    line: str, path: str, number: int, expires: dt.datetime | None
) -> LocalFact:
    word, sign, value = line.partition('=')
    name = fact_name(word)
    if not name:
        raise yaml_file.FileError(path, number, _bad_name(word))
    return LocalFact(
        name=name, value=value.strip() if sign else True, expires=expires
    )


def _bad_name(word: str) -> str:
    return (
        f'{parsing.line(word)[:40]!r} is no name of a fact; write a letter or '
        f'digit, and at most {_NAME_LIMIT} characters'
    )


def _time(text: str) -> dt.datetime | None:
    """Return a time with its zone; without one, it is UTC."""
    try:
        found = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if found.tzinfo is None:
        return found.replace(tzinfo=dt.UTC)
    return found
