# SPDX-License-Identifier: Apache-2.0
"""An Ironic that answers what a test says, and rows as its API gives them."""

import pytest
import requests_mock as mocking
from keystoneauth1 import adapter, noauth, session

from drivers.ironic import api, connection, versions

URL = 'http://ironic.test:6385'


@pytest.fixture
def requests_mock():
    """The usual one, but for telling capitals from small letters."""
    with mocking.Mocker(case_sensitive=True) as mocker:
        yield mocker


@pytest.fixture
def make_row():
    """Return one node as Ironic lists it."""

    def make_row(number=1, **fields):
        return {
            'uuid': f'{number:08x}-0000-4000-8000-000000000000',
            'name': f'node-{number}',
            'resource_class': 'gold',
            'traits': ['CUSTOM_NVME'],
            'power_state': 'power off',
            'provision_state': 'available',
            'maintenance': False,
            'instance_uuid': None,
            'links': [],
            **fields,
        }

    return make_row


@pytest.fixture
def make_connection(requests_mock):
    """Return a connection to an Ironic that ``requests_mock`` plays."""

    def make_connection(
        url=URL, needed=None, max_retries=0, auth=None, **options
    ):
        made = session.Session(auth=auth or noauth.NoAuth(endpoint=url))
        return connection.Connection(
            adapter.Adapter(made, service_type='baremetal', **options),
            url=url,
            needed=needed or versions.needed(None, None),
            max_retries=max_retries,
            retry_interval=0,
        )

    return make_connection


@pytest.fixture
def make_api(make_connection):
    """Return the API of such an Ironic."""

    def make_api(conductor_group=None, shard=None, **options):
        needed = versions.needed(conductor_group, shard)
        return api.Api(
            make_connection(needed=needed, **options),
            conductor_group=conductor_group,
            shard=shard,
        )

    return make_api


@pytest.fixture
def sent(requests_mock):
    """The requests so far: method, path and query as they were sent."""

    def sent():
        return [
            f'{r.method} {r.url.removeprefix(URL)}'
            for r in requests_mock.request_history
        ]

    return sent


@pytest.fixture
def play(requests_mock):
    """Let Ironic answer a path, one response after the other.

    A response is what requests_mock takes; JSON is labelled as such.
    """

    def play(path, *responses, method='GET'):
        headers = {'content-type': 'application/json'}
        requests_mock.register_uri(
            method,
            f'{URL}{path}',
            [
                {'headers': headers, **r} if 'json' in r else r
                for r in responses
            ],
        )

    return play
