# SPDX-License-Identifier: Apache-2.0
"""A driver that keeps every rule with the server that it asks, over HTTP.

The server answers with lines: one for each card of its two racks, and a last
line that counts them. Each driver of ``bad_servers.py`` is this one with one thing done
in another way.
"""

import contextlib
import functools
import http.client
import http.server
import threading
import urllib.request
import uuid as uuidlib

from compute_agent import errors, testing
from compute_agent.virt import driver

NAMESPACE = uuidlib.UUID('1c0a7c52-6f0e-4d0b-8f65-2d6f7a7c9b11')
RACKS = ('rack-0', 'rack-1')
CARDS = 3


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with the lines of its server."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        body = self.server.text().encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Print nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Racks and their cards."""

    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.set_up(CARDS)

    def set_up(self, cards):
        self.rows = [f'{n} gpu{c}' for n in RACKS for c in range(cards)]

    def text(self):
        return '\n'.join([*self.rows, f'end {len(self.rows)}'])


@contextlib.contextmanager
def world():
    """Yield a world of two racks; the server is closed at the end."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        Lines.url = f'http://127.0.0.1:{server.server_port}/'
        yield testing.World(
            seams=[testing.Seam('racks', urllib.request, 'urlopen')],
            change=functools.partial(server.set_up, CARDS - 1),
        )
        server.shutdown()
        thread.join()


class Lines(driver.ComputeDriver):
    """Each rack is a node, and each card a child."""

    url = ''

    def __init__(self):
        self.cards = []

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def open(self):
        return urllib.request.urlopen(self.url, timeout=5)

    def body(self):
        """Return the bytes of an answer."""
        with self.open() as answer:
            return answer.read()

    def read(self):
        """Return the rows of a whole answer."""
        try:
            *rows, end = self.body().decode().split('\n')
        except (OSError, ValueError, http.client.HTTPException) as exc:
            raise errors.DriverError(
                f'the racks did not answer: {type(exc).__name__}'
            ) from exc
        self.check(rows, end)
        return [row.split() for row in rows]

    def check(self, rows, end):
        """Refuse a part of an answer."""
        if end != f'end {len(rows)}':
            raise errors.DriverError('the racks sent a part of an answer')

    def get_available_nodes(self):
        self.cards = self.read()
        return list(RACKS)

    def get_nodenames_by_uuid(self):
        return {str(uuidlib.uuid5(NAMESPACE, name)): name for name in RACKS}

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        cards = [name for rack, name in self.cards if rack == nodename]
        provider_tree.declare_inventory(
            nodename, {'CUSTOM_SLOT': {'total': 8}}
        )
        wanted = {f'{nodename}_{card}' for card in cards}
        for uuid in provider_tree.get_provider_uuids(nodename):
            name = provider_tree.data(uuid).name
            if name.startswith(f'{nodename}_gpu') and name not in wanted:
                provider_tree.remove(uuid)
        for name in sorted(wanted):
            if not provider_tree.exists(name):
                provider_tree.new_child(name, nodename)
            provider_tree.declare_inventory(name, {'PGPU': {'total': 1}})
