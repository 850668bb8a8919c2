# SPDX-License-Identifier: Apache-2.0
"""A request counts for the service that was asked, also one for ``/``."""

import scripted_server
from connected import by_password, to_ironic, to_placement
from scripted_server import answer, scripted

from compute_agent.monitoring.values import routes
from compute_agent.transport import watched


def counted(sent):
    return {
        (found.service, found.template)
        for found in (routes.route(one.path, one.service) for one in sent)
    }


def test_roots_count_for_keystone_or_for_the_service_of_the_session(tmp_path):
    sent = []

    def keystone(request):
        catalog = {'placement': other.url, 'baremetal': other.url}
        return scripted_server.keystone(request, identity.url, catalog)

    def service(_request):
        return answer(body={'versions': [], 'nodes': []})

    with (
        scripted(keystone) as identity,
        scripted(service) as other,
        watched.SENT.watching(sent.append),
    ):
        options = by_password(identity.url)
        to_placement(tmp_path, options).get('/')
        assert counted(sent) == {
            ('keystone', '/'),
            ('keystone', '/auth/tokens'),
            ('placement', '/'),
        }
        sent.clear()
        driver = to_ironic(other.url, **options)
        driver.get_available_nodes()
        assert ('keystone', '/') in counted(sent)
        assert {service for service, _ in counted(sent)} == {
            'ironic',
            'keystone',
        }
