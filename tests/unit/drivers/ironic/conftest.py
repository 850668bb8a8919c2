# SPDX-License-Identifier: Apache-2.0
"""An Ironic that answers what a test says, and rows as its API gives them."""

import collections.abc
import typing

import pytest
import requests_mock as mocking
from keystoneauth1 import adapter, noauth, session

from compute_agent.transport import protection
from drivers.ironic.client import api, connection
from drivers.ironic.nodes import answers

URL = 'http://ironic.test:6385'


@pytest.fixture
def requests_mock() -> collections.abc.Iterator[mocking.Mocker]:
    """The usual one, but for telling capitals from small letters."""
    with mocking.Mocker(case_sensitive=True) as mocker:
        yield mocker


@pytest.fixture
def make_row() -> collections.abc.Callable[..., dict[str, typing.Any]]:
    """Return one node as Ironic lists it."""

    def make_row(number: int = 1, **fields: object) -> dict[str, typing.Any]:
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
def make_connection(
    requests_mock: mocking.Mocker,
) -> collections.abc.Callable[..., connection.Connection]:
    """Return a connection to an Ironic that ``requests_mock`` plays."""

    def make_connection(
        url: str | None = URL,
        needed: answers.Needed | None = None,
        max_retries: int = 0,
        auth: typing.Any = None,
        **options: typing.Any,
    ) -> connection.Connection:
        made = session.Session(auth=auth or noauth.NoAuth(endpoint=url))
        sending = adapter.Adapter(made, service_type='baremetal', **options)
        protection.protect(sending, 'ironic')
        return connection.Connection(
            sending,
            url=url,
            needed=needed or answers.needed(None, None),
            max_retries=max_retries,
            retry_interval=0,
        )

    return make_connection


@pytest.fixture
def make_api(
    make_connection: collections.abc.Callable[..., connection.Connection],
) -> collections.abc.Callable[..., api.Api]:
    """Return the API of such an Ironic."""

    def make_api(
        conductor_group: str | None = None,
        shard: str | None = None,
        **options: typing.Any,
    ) -> api.Api:
        needed = answers.needed(conductor_group, shard)
        return api.Api(
            make_connection(needed=needed, **options),
            conductor_group=conductor_group,
            shard=shard,
        )

    return make_api


@pytest.fixture
def sent(
    requests_mock: mocking.Mocker,
) -> collections.abc.Callable[[], list[str]]:
    """The requests so far: method, path and query as they were sent."""

    def sent() -> list[str]:
        return [
            f'{r.method} {r.url.removeprefix(URL)}'
            for r in requests_mock.request_history
        ]

    return sent


@pytest.fixture
def play(
    requests_mock: mocking.Mocker,
) -> collections.abc.Callable[..., None]:
    """Let Ironic answer a path, one response after the other.

    A response is what requests_mock takes; JSON is labelled as such.
    """

    def play(
        path: str, *responses: dict[str, typing.Any], method: str = 'GET'
    ) -> None:
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
