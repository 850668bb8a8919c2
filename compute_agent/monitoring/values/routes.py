# SPDX-License-Identifier: Apache-2.0
"""The route of a request, without uuids and names, as a label of metrics.

Pure: no I/O, configuration, logging or clock. The routes are a fixed list, so
no path makes a new label.
"""

import http
import re
from typing import NamedTuple


class Route(NamedTuple):
    """A service and one of its routes, such as ``/traits/{name}``."""

    service: str
    template: str


OTHER = Route('other', 'other')
# A service's list of its versions, at the root of its host: any service's.
ROOT = '/'

_PROVIDER = '/resource_providers/{uuid}'
_NODE = '/v1/nodes/{node}'
_TEMPLATES = {
    'placement': (
        '/placement',
        '/resource_providers',
        _PROVIDER,
        f'{_PROVIDER}/inventories',
        f'{_PROVIDER}/inventories/{{resource_class}}',
        f'{_PROVIDER}/aggregates',
        f'{_PROVIDER}/traits',
        f'{_PROVIDER}/usages',
        f'{_PROVIDER}/allocations',
        '/resource_classes',
        '/resource_classes/{name}',
        '/traits',
        '/traits/{name}',
        '/allocations',
        '/allocations/{consumer}',
        '/allocation_candidates',
        '/reshaper',
    ),
    'keystone': ('/identity', '/v3', '/auth/tokens'),
    'ironic': (
        '/baremetal',
        '/v1',
        '/v1/nodes',
        _NODE,
        f'{_NODE}/traits',
        f'{_NODE}/traits/{{trait}}',
        '/v1/allocations',
        '/v1/allocations/{allocation}',
        '/v1/conductors',
        '/v1/portgroups',
        '/v1/ports',
    ),
}
ROUTES = tuple(
    Route(service, template)
    for service, templates in _TEMPLATES.items()
    for template in templates
)

METHODS = frozenset({'DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'})
NO_ANSWER = 'none'
_CODES = frozenset(map(int, http.HTTPStatus))
_LONGEST = 1000  # characters of a path that are looked at


def _pattern(route: Route) -> re.Pattern[str]:
    """Return what matches a path; the service's address may have a prefix."""
    text = re.sub(r'\\{\w+\\}', '[^/]+', re.escape(route.template))
    return re.compile(f'(?:/.*)?{text}/?')


# The longest first: a provider's traits are no list of traits, and Ironic's
# allocations are none of placement's.
_PATTERNS = tuple(
    (_pattern(route), route)
    for route in sorted(ROUTES, key=lambda r: -r.template.count('/'))
)


def route(path: str, asked: str = '') -> Route:
    """Return the route of a path without its query; ``OTHER`` if unknown.

    :param asked: the service that was asked; empty if unknown
    """
    if path == ROOT:
        return Route(asked if asked in _TEMPLATES else 'other', ROOT)
    for pattern, found in _PATTERNS:
        if pattern.fullmatch(path[:_LONGEST]):
            return found
    return OTHER


def method(name: str) -> str:
    """Return a method as a label."""
    return name if name in METHODS else 'other'


def code(status: int | None) -> str:
    """Return the status of an answer as a label."""
    if status is None:
        return NO_ANSWER
    return str(status) if status in _CODES else 'other'
