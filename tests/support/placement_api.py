# SPDX-License-Identifier: Apache-2.0
"""The typed API over the ``placement`` fixture, and placement's bare answers.

A pytest plugin: ``traits`` and ``providers`` are the code under test, ``raw``
sends what it is told and returns the answer as it came, for what placement
itself says to a request that the code under test would not send.
"""

import collections.abc

import pytest
import requests
from keystoneauth1 import adapter, session, token_endpoint

from compute_agent import testing
from compute_agent.testing.fixtures import in_process
from report_client.api import providers as providers_api
from report_client.api import traits as traits_api
from report_client.http import placement as placement_api

WHERE = 'the placement of this test'


class Waits(list[float]):
    """The seconds that were waited between attempts; nobody waits them."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def service_of(
    placement: testing.Placement, token: str = 'admin'
) -> placement_api.Placement:
    """Return placement's API with the rights of a token."""
    made = session.Session(
        auth=token_endpoint.Token(placement.url, token),
        session=placement.session,
    )
    return placement_api.Placement(
        adapter.Adapter(made, service_type='placement'), WHERE
    )


@pytest.fixture
def service(
    placement: testing.Placement,
) -> placement_api.Placement:
    """Placement's API on this test's placement."""
    return service_of(placement)


@pytest.fixture
def traits(service: placement_api.Placement) -> traits_api.Traits:
    """The traits of this test's placement."""
    return traits_api.Traits(service)


@pytest.fixture
def waits() -> Waits:
    """The seconds that ``providers`` waited between attempts."""
    return Waits()


@pytest.fixture
def providers(
    service: placement_api.Placement, waits: Waits
) -> providers_api.Providers:
    """The providers of this test's placement."""
    return providers_api.Providers(service, waits)


@pytest.fixture
def raw(
    placement: testing.Placement,
) -> collections.abc.Callable[..., requests.Response]:
    """Send a request as an operator; return the answer as it came."""

    def send(
        method: str,
        path: str,
        body: object = None,
        microversion: str = '1.39',
        token: str = 'admin',
    ) -> requests.Response:
        return placement.session.request(
            method,
            placement.url + path,
            json=body,
            headers={
                'X-Auth-Token': token,
                'OpenStack-API-Version': f'placement {microversion}',
            },
        )

    return send


class OldPlacement:
    """Lets a placement refuse what is newer than a microversion."""

    def __init__(self, placement: testing.Placement) -> None:
        self._placement = placement

    def __call__(self, newest: str) -> None:
        """Answer 406 to requests of newer microversions from now on."""
        limit = tuple(map(int, newest.split('.')))

        def newer(request: in_process.Request) -> bool:
            asked = (request.microversion or '1.0').split('.')
            return tuple(map(int, asked)) > limit

        refusal = {
            'status': 406,
            'title': 'Not Acceptable',
            'detail': 'Unacceptable version header',
            'max_version': newest,
            'min_version': '1.0',
        }
        self._placement.fault(newer, (406, {'errors': [refusal]}), times=None)


@pytest.fixture
def newest(
    placement: testing.Placement,
) -> OldPlacement:
    """Make this test's placement an older one: ``newest('1.30')``."""
    return OldPlacement(placement)
