# SPDX-License-Identifier: Apache-2.0
"""The Ironic driver keeps the contract, beside an Ironic of this test.

Its seams are the far end of the client's HTTP: the bodies of the answers, and
the rows of a listing, which come in pages of three.
"""

import contextlib
import http.server
import json
import re
import threading
from typing import ClassVar
from urllib import parse

import pytest
import requests
import requests_mock
import shipped

from compute_agent import testing

URL = 'http://127.0.0.1:6385'
LISTS = ('/v1/nodes', '/v1/nodes/detail')
OVER_HTTP = 'CA039'  # the rule about servers; the others need none
PAGE = 3
COMPLETE = (
    'a page has no count of nodes, so a list without some of them looks whole; '
    'Ironic is asked for each node that is missing, and none is removed'
)


class Ironic:
    """An Ironic whose nodes a test changes."""

    def __init__(self):
        self._changes = 0
        self.nodes(2)

    def mocked(self, mock):
        """Answer the requests of this process."""
        json_type = {'Content-Type': 'application/json'}
        for path in LISTS:
            mock.get(
                f'{URL}{path}',
                content=lambda request, _: self.page(_query(request)),
                headers=json_type,
            )
        mock.get(
            f'{URL}/v1/shards',
            content=lambda _request, _context: self.shards(),
            headers=json_type,
        )
        mock.get(
            re.compile(f'{URL}/v1/nodes/(?!detail).+'),
            content=self._node,
            headers=json_type,
        )

    def nodes(self, count):
        self._rows = [_row(number) for number in range(count)]

    def change(self):
        self._changes += 1
        self._rows[0] |= {
            'traits': ['CUSTOM_Y'],
            'maintenance': True,
            'updated_at': f'2026-01-02T00:00:{self._changes:02}+00:00',
        }

    def rows(self, query):
        """Return the nodes from a marker on, in the order that was asked for."""
        rows = self._rows
        if 'sort_key' in query:
            rows = sorted(
                rows,
                key=lambda row: (row.get(query['sort_key']), row['uuid']),
                reverse=query['sort_dir'] == 'desc',
            )
        uuids = [row['uuid'] for row in rows]
        marker = query.get('marker')
        return rows[uuids.index(marker) + 1 if marker else 0 :]

    def page(self, query):
        """Return the body of a page."""
        rows = self.rows(query)
        size = min(PAGE, int(query['limit']))
        page = {'nodes': rows[:size]}
        if len(rows) > size:
            last = rows[size - 1]['uuid']
            page['next'] = f'{URL}/v1/nodes?marker={last}'
        return json.dumps(page).encode()

    def shards(self):
        """Return the body with the count of the nodes."""
        shards = [{'name': 'None', 'count': len(self._rows)}]
        return json.dumps({'shards': shards}).encode()

    def one(self, uuid):
        """Return the body of one node, None if there is none."""
        found = [row for row in self._rows if row['uuid'] == uuid]
        return json.dumps(found[0]).encode() if found else None

    def _node(self, request, context):
        context.status_code, body = self.node(request.path)
        return body

    def node(self, path):
        """Return the status and the body for one node."""
        uuid = parse.unquote(path.rsplit('/', 1)[1])
        body = self.one(uuid)
        if body is not None:
            return 200, body
        fault = {'faultstring': f'Node {uuid} could not be found.'}
        return 404, json.dumps({'error_message': json.dumps(fault)}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers over HTTP what the double of its server does."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        url = parse.urlsplit(self.path)
        if url.path in LISTS:
            query = dict(parse.parse_qsl(url.query))
            status, body = 200, self.server.ironic.page(query)
        elif url.path == '/v1/shards':
            status, body = 200, self.server.ironic.shards()
        else:
            status, body = self.server.ironic.node(url.path)
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


@contextlib.contextmanager
def reached(ironic, *, by_http):
    """Yield the address of an Ironic; by HTTP, it has a server."""
    if not by_http:
        with requests_mock.Mocker(real_http=True) as mock:
            ironic.mocked(mock)
            yield URL
        return
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        server.daemon_threads = True
        server.ironic = ironic
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f'http://127.0.0.1:{server.server_port}'
        server.shutdown()
        thread.join()


def _query(request):
    return dict(parse.parse_qsl(parse.urlsplit(request.url).query))


def _row(number):
    return {
        'uuid': f'{number + 1:08}-1111-4111-8111-111111111111',
        'name': f'node-{number}',
        'resource_class': 'gold',
        'traits': ['CUSTOM_X', 'HW_CPU_X86_VMX'],
        'power_state': 'power off',
        'provision_state': 'available',
        'maintenance': False,
        'instance_uuid': None,
        'created_at': f'2026-01-01T{number:02}:00:00+00:00',
        'updated_at': f'2026-01-01T{number:02}:30:00+00:00',
    }


def seam(ironic, attribute, **how):
    return testing.Seam(
        'HTTP',
        ironic,
        attribute,
        timeout=lambda: requests.ConnectTimeout('timed out'),
        error=lambda: requests.ConnectionError('connection reset by peer'),
        **how,
    )


class TestIronic(shipped.ShippedContract):
    driver = 'ironic'
    skips: ClassVar = {
        'CA022': 'Ironic sends no events',
        'CA024': 'it decides no trait alone: operators may add any',
        'CA031': 'a node has one provider, so nothing can move',
    }
    capabilities = (
        testing.Capability.SEVERAL_NODES,
        testing.Capability.COMPLETE_LISTS,
    )

    @pytest.fixture
    def world(self, rule):
        ironic = Ironic()
        with reached(ironic, by_http=rule.number == OVER_HTTP) as url:
            yield testing.World(
                conf={
                    'ironic': {
                        'auth_type': 'none',
                        'endpoint_override': url,
                        'api_max_retries': 0,
                        'api_retry_interval': 0,
                    }
                },
                seams=[
                    seam(ironic, 'page'),
                    seam(ironic, 'one'),
                    seam(ironic, 'shards'),
                    seam(
                        ironic,
                        'rows',
                        silent={
                            testing.Fault.HALF: COMPLETE,
                            testing.Fault.EMPTY: COMPLETE,
                        },
                    ),
                ],
                change=ironic.change,
                nodes=ironic.nodes,
                expected={
                    _row(0)['uuid']: {
                        'inventories': {'CUSTOM_GOLD': 1},
                        'traits': ['CUSTOM_X'],
                    }
                },
            )
