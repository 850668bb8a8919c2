# SPDX-License-Identifier: Apache-2.0
"""Which route a request took."""

import pytest

from benchmarks.sync_cycles import routes

UUID = '5f1a0a30-5d0c-4d4e-9b0e-6d7f4c1f0001'


@pytest.mark.parametrize(
    ('line', 'route'),
    [
        ('200 GET /resource_providers', 'GET /resource_providers'),
        (
            f'200 GET /resource_providers/{UUID}/traits',
            'GET /resource_providers/{uuid}/traits',
        ),
        ('201 PUT /traits/CUSTOM_A', 'PUT /traits/{name}'),
        (
            '204 PUT /resource_classes/CUSTOM_A',
            'PUT /resource_classes/{name}',
        ),
        (
            f'200 GET /resource_providers?required=X&member_of=in:{UUID}',
            'GET /resource_providers?member_of&required',
        ),
        (
            f'409 PUT /resource_providers/{UUID}/inventories',
            'PUT /resource_providers/{uuid}/inventories (409)',
        ),
    ],
)
def test_a_route_is_a_request_without_what_differs_by_provider(line, route):
    assert routes.route(line) == route


def test_routes_are_counted_and_the_commonest_comes_first():
    lines = ['200 GET /b', '200 GET /c', '200 GET /a', '200 GET /c']
    found = routes.counted(lines)
    assert list(found.items()) == [('GET /c', 2), ('GET /a', 1), ('GET /b', 1)]
    assert routes.total(found) == 4
    assert routes.total({}) == 0
