# SPDX-License-Identifier: Apache-2.0
"""Describe problems of a YAML file: one line, with what to write instead.

Pure: no I/O, configuration, logging or clock. The ``description`` of a part of
a schema completes "write ..." in the line about it. Used by ``yaml_file.py``
and ``state/values/node_record.py``.
"""

import difflib
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jsonschema

Step = str | int
Schema = Mapping[str, Any]

_LONGEST = 60
_LONGEST_LINE = 200
# Part of a message of the parser → what to do about it.
_REMEDIES = (
    ('start any token', 'indent with spaces; quote text that begins so'),
    ('mapping values', 'quote text that holds ": ", or fix the indentation'),
    (
        'undefined alias',
        'define its anchor above, or quote text that begins *',
    ),
    ('duplicate anchor', 'give each anchor a name of its own'),
    ('another document', 'keep one document and no second "---" line'),
    ('constructor for the tag', 'remove the tag, or quote the text'),
    ('unexpected end', 'close the quotation'),
    ("',' or", 'close the bracket, or add the comma'),
)
_REMEDY = 'fix the indentation or the punctuation here'


def worst_violation(
    data: Any,
    schema: Schema,
    rank: Callable[['jsonschema.ValidationError'], tuple[Any, ...]]
    | None = None,
) -> tuple['jsonschema.ValidationError | None', int]:
    """Return the most relevant violation of a schema, and their number.

    :param rank: what the library's sort key of an error begins with, in place
        of its first two parts
    """
    import jsonschema  # noqa: PLC0415 (slow; few commands check a file)

    relevance: Any = jsonschema.exceptions.relevance

    def key(error: jsonschema.ValidationError) -> tuple[Any, ...]:
        own: tuple[Any, ...] = relevance(error)
        return own if rank is None else (*rank(error), *own[2:])

    validator = jsonschema.Draft202012Validator(schema)
    found = list(validator.iter_errors(data))
    return jsonschema.exceptions.best_match(found, key=key), len(found)


def schema_problem(
    error: 'jsonschema.ValidationError',
) -> tuple[str | None, str]:
    """Return the key that violates the schema (if it is a key), and why."""
    instance: Any = error.instance
    schema = _schema(error)
    if error.validator == 'additionalProperties':
        key = next(k for k in instance if not _known(k, schema))
        return key, _unknown(key, schema)
    if error.validator == 'required':
        return None, _missing(instance, schema)
    return None, _wrong(error)


def parser_problem(exc: Exception) -> tuple[int, str]:
    """Return the line of an error of the YAML parser, and the problem."""
    problem = str(getattr(exc, 'problem', None) or exc)
    mark = getattr(exc, 'problem_mark', None)
    begin = getattr(exc, 'context_mark', None)
    context = f'{getattr(exc, "context", None) or ""} {problem}'
    remedy = next((r for part, r in _REMEDIES if part in context), _REMEDY)
    if begin is not None and mark is not None and begin.line != mark.line:
        problem += f' for what begins on line {begin.line + 1}'
    line = mark.line + 1 if mark is not None else 1
    return line, short(f'not YAML: {problem}; {remedy}')


def reading_problem(exc: OSError) -> str:
    """Return why a file could not be read, and what to do."""
    match exc:
        case FileNotFoundError():
            return 'the file does not exist; create it or correct the path'
        case IsADirectoryError():
            return 'this is a directory; give the path of a file in it'
        case PermissionError():
            return 'permission denied; give this user the right to read it'
        case _:
            return f'it cannot be read ({exc.strerror}); correct the path'


def place(path: Iterable[Step]) -> str:
    """Return the path as people write it, with a colon: ``a[0].b: ``."""
    text = ''
    for step in path:
        plain = isinstance(step, str) and re.fullmatch(r'[\w-]+', step)
        text += f'.{step}' if plain else f'[{step!r}]'
    return f'{text.removeprefix(".")}: ' if text else ''


def _schema(error: 'jsonschema.ValidationError') -> Schema:
    """Return the part of the schema that failed; empty for ``false``."""
    return error.schema if isinstance(error.schema, Mapping) else {}


def _known(key: str, schema: Schema) -> bool:
    patterns = schema.get('patternProperties', ())
    named = key in schema.get('properties', ())
    return named or any(re.search(p, key) for p in patterns)


def _unknown(key: str, schema: Schema) -> str:
    known = list(schema.get('properties', ()))
    close = difflib.get_close_matches(key, known, n=1)
    advice = f'write {close[0] if close else "one of " + ", ".join(known)}'
    rest = advice if known else 'remove it'
    return f'the key {shown(key)} is unknown here; {rest}'


def _missing(instance: Mapping[str, Any], schema: Schema) -> str:
    key = next(k for k in schema['required'] if k not in instance)
    part = schema.get('properties', {}).get(key, {})
    description = part.get('description')
    rest = f'add it with {description}' if description else 'add it'
    return f'the key {key} is missing; {rest}'


def _wrong(error: 'jsonschema.ValidationError') -> str:
    """Return the wrong value, and the part of the schema that it violates.

    If all alternatives fail, this is the part that lists them: it has the
    description.
    """
    choice: Any = error
    while choice and choice.absolute_path == error.absolute_path:
        advice = advice_of(_schema(choice))
        if advice:
            return f'{shown(error.instance)} is wrong here{advice}'
        choice = choice.parent
    return short(error.message)


def advice_of(schema: Schema) -> str:
    """Return what to write instead, by the schema's description."""
    description = schema.get('description')
    return f'; write {description}' if description else ''


def shown(value: object) -> str:
    """Return a value as it is written in YAML, short and on one line."""
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
    """Return a text on one line of limited length."""
    return textwrap.shorten(text, _LONGEST_LINE, placeholder=' ...')
