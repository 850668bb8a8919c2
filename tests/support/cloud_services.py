# SPDX-License-Identifier: Apache-2.0
"""Nova and Ironic as far as an audit asks them, with data of the test's making.

A pytest plugin. The answers have the form of the API references: of compute
API 2.69, and of bare-metal API 1.37. A real nova-api takes minutes to install
and to start; ``full/`` has the real Ironic.
"""

import collections.abc
import contextlib
import json
import socket
import typing
from urllib import parse
from wsgiref import types

import pytest

from compute_agent.dev import wsgi_thread

Answer: typing.TypeAlias = tuple[int, typing.Any]
Query: typing.TypeAlias = dict[str, str]
Rows: typing.TypeAlias = list[dict[str, typing.Any]]


class Service:
    """A service on a free port that answers GET requests in JSON.

    :ivar asked: the paths of all requests, with their queries
    :ivar faults: path → the answer in place of the right one
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.faults: dict[str, Answer] = {}
        self.url = ''

    def answer(self, path: str, query: Query) -> Answer:
        """Return the answer to one request."""
        raise NotImplementedError

    @contextlib.contextmanager
    def serving(self) -> collections.abc.Iterator[typing.Self]:
        """Serve on a free port."""
        with socket.create_server(('127.0.0.1', 0)) as listener:
            self.url = f'http://127.0.0.1:{listener.getsockname()[1]}'
            server = wsgi_thread.WsgiThread(self._wsgi, listener)
            try:
                yield self
            finally:
                server.stop()

    def _wsgi(
        self, environ: types.WSGIEnvironment, start: types.StartResponse
    ) -> list[bytes]:
        path, query = environ['PATH_INFO'], environ.get('QUERY_STRING', '')
        self.asked.append(f'{path}?{query}' if query else path)
        status, body = self.faults.get(path) or self.answer(
            path, dict(parse.parse_qsl(query))
        )
        content = (
            body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        start(f'{status} Told', [('Content-Type', 'application/json')])
        return [content]


def _page(rows: Rows, query: Query, key: str, most: int) -> Rows:
    """Return the rows after the marker."""
    first = 0
    if 'marker' in query:
        marks = [row[key] for row in rows]
        first = marks.index(query['marker']) + 1
    return rows[first : first + min(most, int(query.get('limit', most)))]


class Nova(Service):
    """Nova's API.

    :ivar hypervisors: host name by uuid
    :ivar servers: the uuids of all servers
    :ivar homes: the hypervisor of some servers, by uuid
    :ivar tasks: what nova does to some servers, by uuid
    :ivar evacuations: the rows of evacuations in ``/os-migrations``
    :ivar migrations: the uuids of all migrations
    :ivar flavors: extra specs by name
    :ivar services: the rows of ``/os-services``
    :ivar page: the most rows of one page
    """

    def __init__(self) -> None:
        super().__init__()
        self.hypervisors: dict[str, str] = {}
        self.servers: list[str] = []
        self.homes: dict[str, str] = {}
        self.tasks: dict[str, str] = {}
        self.evacuations: list[dict[str, typing.Any]] = []
        self.migrations: list[str] = []
        self.flavors: dict[str, dict[str, str]] = {}
        self.services: list[dict[str, typing.Any]] = []
        self.page = 1000

    def hypervisor(self, name: str, uuid: str) -> None:
        """Add a hypervisor and its service."""
        self.hypervisors[uuid] = name
        self.services.append(
            {
                'id': uuid,
                'binary': 'nova-compute',
                'host': name,
                'zone': 'nova',
                'status': 'enabled',
                'state': 'up',
                'updated_at': '2026-11-01T00:00:00.000000',
                'disabled_reason': None,
                'forced_down': False,
            }
        )

    def evacuate(self, server: str, source: str, target: str) -> None:
        """Have a server on another host, and a record of how it came there."""
        self.servers.append(server)
        self.homes[server] = target
        self.evacuations.append(
            {
                'id': len(self.evacuations) + 1,
                'uuid': f'{len(self.evacuations):08}-9999-4999-8999-999999999999',
                'instance_uuid': server,
                'migration_type': 'evacuation',
                'status': 'done',
                'source_compute': source,
                'source_node': source,
                'dest_compute': target,
                'dest_node': target,
            }
        )

    def answer(self, path: str, query: Query) -> Answer:
        """Return the answer to one request, as compute API 2.69 has it."""
        noun = path.strip('/').removeprefix('os-').removesuffix('/detail')
        if path.startswith('/servers/'):
            return self._server(path.rpartition('/')[2])
        tables: dict[str, collections.abc.Callable[[], Rows]] = {
            'services': lambda: self.services,
            'hypervisors': self._hypervisors,
            'servers': lambda: [
                {'id': one, 'name': 'vm', 'links': []} for one in self.servers
            ],
            'migrations': lambda: [
                one
                for one in (
                    *(
                        {'id': n, 'uuid': one, 'status': 'finished'}
                        for n, one in enumerate(self.migrations)
                    ),
                    *self.evacuations,
                )
                if query.get('instance_uuid')
                in {None, one.get('instance_uuid')}
            ],
            'flavors': lambda: [
                {'id': name, 'name': name, 'extra_specs': specs}
                for name, specs in self.flavors.items()
            ],
        }
        rows = tables[noun]()
        if noun == 'services':
            return 200, {noun: rows}
        key = 'uuid' if noun == 'migrations' else 'id'
        return 200, {noun: _page(rows, query, key, self.page)}

    def _hypervisors(self) -> Rows:
        return [
            {
                'id': uuid,
                'hypervisor_hostname': name,
                'state': 'up',
                'status': 'enabled',
            }
            for uuid, name in self.hypervisors.items()
        ]

    def _server(self, uuid: str) -> Answer:
        if uuid in self.servers:
            server = {
                'id': uuid,
                'name': 'vm',
                'OS-EXT-SRV-ATTR:hypervisor_hostname': self.homes.get(uuid),
                'OS-EXT-STS:task_state': self.tasks.get(uuid),
            }
            return 200, {'server': server}
        message = f'Instance {uuid} could not be found.'
        return 404, {'itemNotFound': {'code': 404, 'message': message}}


class Ironic(Service):
    """Ironic's list of nodes.

    :ivar instances: the instance of each node, by uuid
    """

    def __init__(self) -> None:
        super().__init__()
        self.instances: dict[str, str | None] = {}

    def answer(self, path: str, query: Query) -> Answer:
        """Return one page of nodes."""
        assert path == '/v1/nodes', path
        rows: Rows = [
            {
                'uuid': uuid,
                'name': None,
                'resource_class': 'gold',
                'traits': [],
                'power_state': 'power on',
                'provision_state': 'active' if instance else 'available',
                'maintenance': False,
                'instance_uuid': instance,
            }
            for uuid, instance in self.instances.items()
        ]
        page = _page(rows, query, 'uuid', 1000)
        body: dict[str, typing.Any] = {'nodes': page}
        if page and page[-1] != rows[-1]:
            body['next'] = 'next'
        return 200, body


@pytest.fixture
def nova(patient_stops: None) -> collections.abc.Iterator[Nova]:
    """Nova without hosts."""
    with Nova().serving() as service:
        yield service


@pytest.fixture
def ironic_list(patient_stops: None) -> collections.abc.Iterator[Ironic]:
    """Ironic without nodes."""
    with Ironic().serving() as service:
        yield service
