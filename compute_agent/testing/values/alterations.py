# SPDX-License-Identifier: Apache-2.0
"""Alter a source's answers truthfully: another value, or an entry less.

The world in which the source gives such an answer may exist, so a driver has
to describe it, or to refuse it. ``contract/rules/after_changes.py`` of the
contract tries them.
"""

import dataclasses
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from . import bodies

Key = tuple[str, str]
"""The title of a seam, and the arguments of a call as text."""
_Path = tuple[Any, ...]
_Edits = dict[Key, dict[_Path, object]]

_EACH = object()  # any place in a list
_GONE = object()  # the value of an entry that a list lacks
_TRIES = 9  # to find a text that is new
_TOKEN = 80  # characters of a text that is one value
# The keys by which sources tell that something else changed.
_VERSION = re.compile(
    r'version|revision|generation|etag|serial|sequence|token|time|updated|'
    r'modified|changed|_at$',
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """One change of the world, as its answers show it.

    :ivar place: the value that changed, and what it became
    :ivar edits: the changed places by the call that answers them
    """

    place: str
    edits: Mapping[Key, Mapping[_Path, object]]

    def altered(self, key: Key, answer: Any) -> Any:
        """Return an answer in the changed world."""
        edits = self.edits.get(key)
        if not edits:
            return answer
        value, closed = bodies.opened(bodies.kept(answer), by_line=True)
        for path, now in edits.items():
            value = _changed(value, path, now)
        return closed(value)


def alterations(
    answers: Mapping[Key, Any], *, most: int, with_versions: bool
) -> list[Alteration]:
    """Return changes of the world, of at most so many places.

    Of the items of a list, the first and the last one change.

    :param answers: the true answers
    :param with_versions: True if the values by which a source tells that
        something changed are others, too, with each change
    """
    opened = {
        key: bodies.opened(answer, by_line=True)[0]
        for key, answer in answers.items()
    }
    versions = _versions(opened) if with_versions else {}
    found = _spread([*_values(opened)], most)
    found += _spread([*_shorter(opened)], most // 2)
    return [
        dataclasses.replace(one, edits=_joined(versions, one.edits))
        for one in found
    ]


def place(path: _Path) -> str:
    """Return a path as it is written in Python: ``nodes[2].gpus[0].model``."""
    words = [
        f'.{one}' if isinstance(one, str) else f'[{one!r}]' for one in path
    ]
    return ''.join(words).lstrip('.') or 'the answer'


def became(before: Any, now: Any) -> str:
    """Return the first place in which two answers differ, and its new value."""
    one, other = (bodies.opened(a)[0] for a in (before, now))
    path, value = next(_differences(one, other, ()), ((), other))
    if value is _GONE:
        return f'{place(path)} is gone'
    text = repr(value)
    return f'{place(path)} became {text[:_TOKEN]}{"…" * (len(text) > _TOKEN)}'


def _differences(
    one: Any, other: Any, path: _Path
) -> Iterator[tuple[_Path, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one:
            if key not in other:
                yield (*path, key), _GONE
            else:
                yield from _differences(one[key], other[key], (*path, key))
    elif type(one) is type(other) and isinstance(one, list | tuple):
        if len(one) == len(other):
            for at, (a, b) in enumerate(zip(one, other, strict=True)):
                yield from _differences(a, b, (*path, at))
        else:
            yield path, other
    elif one is not other and one != other:
        yield path, other


# --- one value ----------------------------------------------------------------


def _values(opened: Mapping[Key, Any]) -> Iterator[Alteration]:
    """Yield a change of each value, of the first and last entry of lists."""
    texts = {
        value
        for answer in opened.values()
        for _, _, value in _walk(answer, (), ())
        if isinstance(value, str)
    }
    for key, answer in opened.items():
        of_kind: dict[_Path, list[_Path]] = {}
        for path, kind, value in _walk(answer, (), ()):
            if _another(value) is not None:
                of_kind.setdefault(kind, []).append(path)
        for paths in of_kind.values():
            for path in dict.fromkeys((paths[0], paths[-1])):
                now = _new(_at(answer, path), texts)
                yield Alteration(
                    place=f'{_title(key)}: {place(path)} became {now!r}',
                    edits={key: {path: now}},
                )


def _new(value: Any, texts: Container[str]) -> Any:
    """Return another value; for a text, one that no answer has.

    With the name of another node, two nodes would become one.
    """
    now = _another(value)
    for _ in range(_TRIES):
        if not isinstance(now, str) or now.isdigit() or now not in texts:
            break
        now = _another(now)
    return now


def _another(value: Any) -> Any:
    """Return another value of the same kind; None if the kind is unknown."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case bytes():
            now = _another_text(value.decode('latin-1'))
            return None if now is None else now.encode('latin-1')
        case str():
            return _another_text(value)
        case _:
            return None


def _another_text(value: str) -> str | None:
    """Return a text with another last letter or digit; None if it is long."""
    found = list(re.finditer(r'[A-Za-z0-9]', value[:_TOKEN]))
    if not found or len(value) > _TOKEN or len(value.splitlines()) > 1:
        return None
    at = found[-1].start()
    return f'{value[:at]}{_next(value[at])}{value[at + 1 :]}'


def _next(letter: str) -> str:
    """Return another letter or digit; a hexadecimal one stays so."""
    ends = {'9': '0', 'f': 'a', 'F': 'A', 'z': 'a', 'Z': 'A'}
    return ends.get(letter) or chr(ord(letter) + 1)


# --- one entry less -----------------------------------------------------------


def _shorter(opened: Mapping[Key, Any]) -> Iterator[Alteration]:
    """Yield worlds in which a list has an entry less, and what counts it."""
    for key, answer in opened.items():
        seen = set[_Path]()
        for path, kind, value in _containers(answer, (), ()):
            if not isinstance(value, list) or not value or kind in seen:
                continue
            seen.add(kind)
            last = (*path, len(value) - 1)
            said = f'{_title(key)}: {place(last)} is gone'
            alone: _Edits = {key: {last: _GONE}}
            yield Alteration(place=said, edits=alone)
            # The count of a list is in the same answer, or else in another
            # one.
            counts = _equal_to({key: answer}, len(value)) or _equal_to(
                opened, len(value)
            )
            if counts:
                yield Alteration(
                    place=f'{said}, and the counts of it are',
                    edits=_joined(counts, alone),
                )


def _equal_to(opened: Mapping[Key, Any], count: int) -> _Edits:
    """Return the edits that make each such number one less."""
    found: _Edits = {}
    for key, answer in opened.items():
        for path, _, value in _walk(answer, (), ()):
            if type(value) is int and value == count:
                found.setdefault(key, {})[path] = count - 1
    return found


def _versions(opened: Mapping[Key, Any]) -> _Edits:
    """Return the edits that change each value by which a source tells."""
    found: _Edits = {}
    for key, answer in opened.items():
        for path, _, value in _walk(answer, (), ()):
            name = path[-1] if path else None
            now = _another(value)
            if (
                isinstance(name, str)
                and _VERSION.search(name)
                and now is not None
            ):
                found.setdefault(key, {})[path] = now
    return found


def _joined(
    one: Mapping[Key, Mapping[_Path, object]],
    other: Mapping[Key, Mapping[_Path, object]],
) -> _Edits:
    """Return the edits of both; those of the second one are made last."""
    return {
        key: {**one.get(key, {}), **other.get(key, {})}
        for key in {**one, **other}
    }


# --- places -------------------------------------------------------------------


def _walk(
    value: Any, path: _Path, kind: _Path
) -> Iterator[tuple[_Path, _Path, Any]]:
    """Yield path, kind and value of each value that is no container."""
    for inner, of_kind, one in _containers(value, path, kind):
        if not isinstance(one, dict | list):
            yield inner, of_kind, one


def _containers(
    value: Any, path: _Path, kind: _Path
) -> Iterator[tuple[_Path, _Path, Any]]:
    """Yield path, kind and value of everything in an answer."""
    yield path, kind, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _containers(inner, (*path, key), (*kind, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _containers(inner, (*path, at), (*kind, _EACH))


def _at(answer: Any, path: _Path) -> Any:
    for key in path:
        answer = answer[key]
    return answer


def _changed(answer: Any, path: _Path, now: Any) -> Any:
    """Return an answer with another value in one place, if it has the place."""
    if not path:
        return now
    key, rest = path[0], path[1:]
    if isinstance(answer, dict) and key in answer:
        return {**answer, key: _changed(answer[key], rest, now)}
    if isinstance(answer, list) and isinstance(key, int) and key < len(answer):
        if now is _GONE and not rest:
            return answer[:key] + answer[key + 1 :]
        inner = _changed(answer[key], rest, now)
        return [*answer[:key], inner, *answer[key + 1 :]]
    return answer


def _title(key: Key) -> str:
    seam, arguments = key
    shown = arguments if len(arguments) <= _TOKEN else f'{arguments[:_TOKEN]}…'
    return f'{seam}({shown})'


def _spread(found: Sequence[Alteration], most: int) -> list[Alteration]:
    """Return at most so many of these, spread over all."""
    if len(found) <= most:
        return list(found)
    step = (len(found) - 1) / max(most - 1, 1)
    return [found[round(i * step)] for i in range(most)]
