# SPDX-License-Identifier: Apache-2.0
"""An agent finds what changed in a real keystone's catalog, with its old token."""

import contextlib

import pytest
import tls_front

from compute_agent.cycle.node.node_result import Status
from compute_agent.transport import catalog
from report_client import errors

pytestmark = pytest.mark.long


@pytest.fixture(scope='module')
def service(cloud):
    """A user with the role service."""
    return cloud.user('service')[0]


def test_an_endpoint_that_gets_tls_is_found_in_the_next_cycle(
    setup, cloud, service
):
    secure = cloud.front.url
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(tls_front.tls_front(cloud.placement, None))
        stack.enter_context(
            cloud.other_endpoint('placement', plain.url, 'one')
        )
        setup.configure(service)
        agent = stack.enter_context(setup.agent())
        (first,) = agent.tracker.sync()
        token = plain.tokens[-1]
        asked = len(cloud.front.tokens)
        plain.instead = 301, [('Location', f'{secure}/')], b''
        stack.enter_context(cloud.other_endpoint('placement', secure, 'one'))
        with pytest.raises(errors.Unreachable, match='redirect'):
            agent.tracker.sync()
        (then,) = agent.tracker.sync()
    assert (first.status, then.status) == (Status.DONE, Status.DONE)
    assert token not in cloud.front.tokens[asked:]
    assert len(cloud.front.tokens) > asked


def test_a_region_that_the_catalog_gets_later_is_found(
    setup, cloud, service, monkeypatch
):
    monkeypatch.setattr(catalog, 'PAUSE', 0.0)
    setup.configure(service, region_name='two')
    with setup.agent() as agent:
        with pytest.raises(errors.Unreachable, match='in the region two'):
            agent.tracker.sync()
        with cloud.other_endpoint('placement', cloud.front.url, 'two'):
            with pytest.raises(errors.Unreachable):
                agent.tracker.sync()
            (result,) = agent.tracker.sync()
    assert result.status is Status.DONE
