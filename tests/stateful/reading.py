# SPDX-License-Identifier: Apache-2.0
"""What a request is about, and what placement holds in sum, for the judge."""

import collections
import re

import world

RESHAPER = '/reshaper'
_ONE = re.compile(r'/resource_providers/([0-9a-f-]{36})(?:/(\w+))?')
_UUID = re.compile('[0-9a-f-]{36}')
_KINDS = {
    'traits': 'trait',
    'inventories': 'inventory',
    'aggregates': 'aggregate',
}


def about(request) -> tuple[str | None, str | None]:
    """Return the provider in a request's path, and the kind of names."""
    match = _ONE.match(request.path)
    uuid, collection = match.groups() if match else (None, None)
    return uuid, _KINDS.get(collection or '')


def parts(request):
    """Yield provider, kind or None, and body of all that is written."""
    if request.path == RESHAPER:
        for uuid, part in request.body['inventories'].items():
            yield uuid, 'inventory', part
    elif request.path == '/resource_providers':
        yield request.body['uuid'], None, request.body
    else:
        uuid, kind = about(request)
        if uuid is not None:
            yield uuid, kind, request.body


def nodes(request) -> set[str]:
    """Return the nodes whose providers a request writes or reads."""
    if request.method == 'GET':
        return {world.home(uuid) for uuid in _UUID.findall(request.path)}
    return {world.home(uuid) for uuid, _, _ in parts(request)}


def total(contents) -> collections.Counter:
    """Return how much each consumer has of each class."""
    total = collections.Counter()
    for held in contents.values():
        total.update(held.allocations)
    return total
