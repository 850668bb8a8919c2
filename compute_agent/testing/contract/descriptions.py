# SPDX-License-Identifier: Apache-2.0
"""Two descriptions of the same nodes, compared.

Pure: no I/O, configuration, logging or clock. A difference is a line for the
driver's author.
"""

from collections.abc import Iterator, Mapping
from typing import Any

# Node → its description, as ``describing.plain`` returns it.
Descriptions = Mapping[str, Mapping[str, Any]]

_NOTHING = 'nothing'


def difference(one: Descriptions, other: Descriptions) -> str:
    """Return the first difference, '' if there is none."""
    return next(_differences(one, other), '')


def _differences(one: Descriptions, other: Descriptions) -> Iterator[str]:
    for node in sorted({*one, *other}):
        if node not in one or node not in other:
            yield f'node {node} is described only once of two times'
            continue
        titles = {
            uuid: name
            for said in (one[node], other[node])
            for uuid, name, _ in said['providers']
        }
        for path, was, now in _values(one[node], other[node]):
            where = ', '.join(_named(path, titles))
            yield f'node {node}, {where}: {was!r} and then {now!r}'


def _values(
    one: object, other: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """Yield the path to each difference and the two values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            yield from _values(
                one.get(key, _NOTHING), other.get(key, _NOTHING), (*path, key)
            )
    elif isinstance(one, list) and isinstance(other, list):
        if one != other:
            yield path, *_without_common(one, other)
    elif one != other:
        yield path, one, other


def _without_common(
    one: list[Any], other: list[Any]
) -> tuple[list[Any], list[Any]]:
    """Return what only one of two lists has; all of them if it is the order."""
    gone = [each for each in one if each not in other]
    new = [each for each in other if each not in one]
    return (gone, new) if gone or new else (one, other)


def _named(path: tuple[str, ...], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of a path, with the names of providers for uuids."""
    for word in path:
        uuid, _, kind = word.partition(' ')
        if uuid in titles:
            yield ' '.join(filter(None, [kind, 'of provider', titles[uuid]]))
        else:
            yield word
