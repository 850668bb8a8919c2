# SPDX-License-Identifier: Apache-2.0
"""The routes of requests as labels: right, and few whatever is asked."""

import hypothesis
import pytest
from examples import examples
from hypothesis import strategies as st

from compute_agent.monitoring.values import routes
from compute_agent.tree import assertion
from report_client.http.messages import paths

UUID = '11111111-1111-4111-8111-111111111111'


@pytest.mark.parametrize(
    ('path', 'template'),
    [
        ('/resource_providers', '/resource_providers'),
        ('/placement/resource_providers', '/resource_providers'),
        (f'/resource_providers/{UUID}', '/resource_providers/{uuid}'),
        (
            paths.collection(UUID, assertion.Kind.TRAIT),
            '/resource_providers/{uuid}/traits',
        ),
        (
            f'/x/y{paths.collection(UUID, assertion.Kind.INVENTORY)}',
            '/resource_providers/{uuid}/inventories',
        ),
        (
            paths.collection(UUID, assertion.Kind.AGGREGATE),
            '/resource_providers/{uuid}/aggregates',
        ),
        (
            paths.allocations(UUID),
            '/resource_providers/{uuid}/allocations',
        ),
        (paths.consumer(UUID), '/allocations/{consumer}'),
        (paths.TRAITS, '/traits'),
        (paths.trait('CUSTOM_A'), '/traits/{name}'),
        (paths.RESOURCE_CLASSES, '/resource_classes'),
        (paths.RESHAPER, '/reshaper'),
        ('/allocation_candidates', '/allocation_candidates'),
        ('/identity/v3/auth/tokens', '/auth/tokens'),
        ('/v1/nodes', '/v1/nodes'),
        ('/baremetal/v1/nodes/node-7', '/v1/nodes/{node}'),
        (f'/v1/nodes/{UUID}/traits', '/v1/nodes/{node}/traits'),
    ],
)
def test_a_path_has_the_route_of_its_service(path, template):
    assert routes.route(path).template == template


@pytest.mark.parametrize(
    ('path', 'service', 'template'),
    [
        ('/', 'other', '/'),
        ('/placement', 'placement', '/placement'),
        ('/placement/', 'placement', '/placement'),
        ('/identity', 'keystone', '/identity'),
        ('/v3', 'keystone', '/v3'),
        ('/identity/v3/', 'keystone', '/v3'),
        ('/baremetal', 'ironic', '/baremetal'),
        ('/baremetal/v1', 'ironic', '/v1'),
        ('/v1/', 'ironic', '/v1'),
        (
            f'/v1/allocations/{UUID}',
            'ironic',
            '/v1/allocations/{allocation}',
        ),
        (f'/allocations/{UUID}', 'placement', '/allocations/{consumer}'),
        ('/traits/v3', 'placement', '/traits/{name}'),
    ],
)
def test_a_request_counts_for_the_service_that_it_asks(
    path, service, template
):
    """Also while the client looks for the service's versions."""
    assert routes.route(path) == (service, template)


@pytest.mark.parametrize(
    ('asked', 'service'),
    [
        ('placement', 'placement'),
        ('keystone', 'keystone'),
        ('ironic', 'ironic'),
        ('glance', 'other'),
        ('', 'other'),
    ],
)
def test_the_root_of_a_host_is_that_of_the_service_that_was_asked(
    asked, service
):
    assert routes.route('/', asked) == (service, '/')


@pytest.mark.parametrize('path', ['', '//', '/healthcheck', '/x/', 'traits'])
def test_another_path_has_no_route_of_its_own(path):
    assert routes.route(path) is routes.OTHER


@hypothesis.settings(max_examples=examples(200), deadline=None)
@hypothesis.given(
    st.text(max_size=50) | st.from_regex(r'(/[a-z_]{1,12}){0,6}'),
    st.text(max_size=8),
    st.none() | st.integers(),
)
def test_no_request_makes_a_new_label(path, method, status):
    """One service more, one method more, and two codes more than there are."""
    assert routes.route(path) in {
        *routes.ROUTES,
        routes.Route('other', '/'),
        routes.OTHER,
    }
    assert routes.method(method) in {*routes.METHODS, 'other'}
    code = routes.code(status)
    assert code in {'none', 'other'} or 100 <= int(code) <= 599
