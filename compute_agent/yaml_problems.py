# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a YAML file, in words: one line, with what to write.

Pure: no I/O, configuration, logging or clock. The ``description`` of a part of
a schema completes "write ..." in the line about it. Used by ``yaml_file.py``.
"""

import difflib
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema

Step = str | int
Schema = Mapping[str, Any]

_LONGEST = 60
_LONGEST_LINE = 200


def of_schema(error: jsonschema.ValidationError) -> tuple[str | None, str]:
    """Return what a violation is about: the wrong key, if it is one, and why."""
    instance: Any = error.instance
    schema = _schema(error)
    if error.validator == 'additionalProperties':
        key = next(k for k in instance if not _known(k, schema))
        return key, _unknown(key, schema)
    if error.validator == 'required':
        return None, _missing(instance, schema)
    return None, _wrong(error)


def place(path: Iterable[Step]) -> str:
    """Return the path as people write it, with a colon: ``a[0].b: ``."""
    text = ''
    for step in path:
        plain = isinstance(step, str) and re.fullmatch(r'[\w-]+', step)
        text += f'.{step}' if plain else f'[{step!r}]'
    return f'{text.removeprefix(".")}: ' if text else ''


def _schema(error: jsonschema.ValidationError) -> Schema:
    """Return the part of the schema that failed; ``false`` says nothing."""
    return error.schema if isinstance(error.schema, Mapping) else {}


def _known(key: str, schema: Schema) -> bool:
    patterns = schema.get('patternProperties', ())
    named = key in schema.get('properties', ())
    return named or any(re.search(p, key) for p in patterns)


def _unknown(key: str, schema: Schema) -> str:
    known = list(schema.get('properties', ()))
    close = difflib.get_close_matches(key, known, n=1)
    advice = f'write {close[0] if close else "one of " + ", ".join(known)}'
    rest = advice if known else 'leave it out'
    return f'the key {shown(key)} is unknown here; {rest}'


def _missing(instance: Mapping[str, Any], schema: Schema) -> str:
    key = next(k for k in schema['required'] if k not in instance)
    part = schema.get('properties', {}).get(key, {})
    description = part.get('description')
    rest = f'add it with {description}' if description else 'add it'
    return f'the key {key} is missing; {rest}'


def _wrong(error: jsonschema.ValidationError) -> str:
    """Return what the place should hold, as its schema describes it.

    Where alternatives failed, the choice between them has the description.
    """
    choice: Any = error
    while choice and choice.absolute_path == error.absolute_path:
        advice = wish(_schema(choice))
        if advice:
            return f'{shown(error.instance)} is wrong here{advice}'
        choice = choice.parent
    return short(error.message)


def wish(schema: Schema) -> str:
    """Return what to write instead, as the schema describes it."""
    description = schema.get('description')
    return f'; write {description}' if description else ''


def shown(value: object) -> str:
    """Return a value as its writer knows it, short and on one line."""
    match value:
        case None:
            return 'an empty value'
        case bool():
            return str(value).lower()
        case dict():
            return 'a mapping'
        case list():
            return 'a list'
        case _:
            text = repr(value) if isinstance(value, str) else str(value)
            return text if len(text) <= _LONGEST else f'{text[:_LONGEST]}...'


def short(text: str) -> str:
    """Return a text on one line of bearable length."""
    return textwrap.shorten(text, _LONGEST_LINE, placeholder=' ...')
