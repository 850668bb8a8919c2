# SPDX-License-Identifier: Apache-2.0
"""Routes of requests: request lines without the names of providers.

Pure. ``counted_placement.py`` writes the lines.
"""

import collections
import re
from collections.abc import Iterable, Mapping

_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_NAME = re.compile(r'^/(traits|resource_classes)/[^/]+$')


def counted(lines: Iterable[str]) -> dict[str, int]:
    """Return the number of requests by route, the most frequent first.

    :param lines: ``status METHOD path?query``
    """
    found = collections.Counter(map(route, lines))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def route(line: str) -> str:
    """Return the route of a request, with its status if that is not 2xx."""
    status, method, target = line.split(' ', 2)
    path, _, query = target.partition('?')
    path = _NAME.sub(r'/\1/{name}', _UUID.sub('{uuid}', path))
    keys = sorted({part.partition('=')[0] for part in query.split('&')} - {''})
    words = [method, path + ('?' + '&'.join(keys) if keys else '')]
    if not status.startswith('2'):
        words.append(f'({status})')
    return ' '.join(words)


def total(routes: Mapping[str, int]) -> int:
    """Return the sum of the requests."""
    return sum(routes.values())
