# SPDX-License-Identifier: Apache-2.0
"""A write that a cut network held back does not arrive after the lease.

Its bytes are in the system of the agent's machine then, which would send them
again for a quarter of an hour. Only a network of its own can show that.
"""

import contextlib
import http.server
import pathlib
import signal
import subprocess
import sys
import threading

import pytest
import stopped_process
from databases import namespace, wait_for

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not namespace.can_be_made(), reason='only root makes a network'
    ),
]
PROGRAM = pathlib.Path(__file__).with_name('late_writer.py')
SUPPORT = pathlib.Path(__file__).parents[2] / 'support'
LEASE = 4


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps the connection, as placement does."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.server.received.append(self.command)
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'{}')

    def do_DELETE(self):
        self.do_GET()

    def log_message(self, *_):
        """Stay silent."""


@pytest.fixture
def net():
    with namespace.made() as made:
        yield made


@pytest.fixture
def server(net):
    """What the agent takes for placement."""
    with http.server.ThreadingHTTPServer((net.host, 0), Handler) as one:
        one.received = []
        threading.Thread(target=one.serve_forever).start()
        yield one
        net.mend()
        one.shutdown()


@pytest.fixture
def writer(net, server):
    """An agent with a connection that stands."""
    url = f'http://{net.host}:{server.server_port}'
    words = [sys.executable, str(PROGRAM), url, str(LEASE)]
    process = subprocess.Popen(
        ['env', f'PYTHONPATH={SUPPORT}', *net.command(*words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout.readline() == 'ready\n'
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def tell(writer):
    writer.stdin.write('delete\n')
    writer.stdin.flush()


def printed(net, *words):
    """Return what a command prints on the agent's machine."""
    return subprocess.run(
        net.command(*words), check=True, capture_output=True, text=True
    ).stdout


def held_back(net, server):
    """Return how many bytes the system of the agent still has to deliver."""
    listed = printed(net, 'cat', '/proc/net/tcp')
    rows = [line.split() for line in listed.splitlines()[1:]]
    port = f':{server.server_port:04X}'
    return sum(int(r[4][:8], 16) for r in rows if r[2].endswith(port))


def mend(net):
    """Mend the network once no packet waits for the address of the next hop.

    Such a packet (ARP) outlives its connection, for three seconds at most; see
    docs/fleet.md.
    """
    wait_for(
        lambda: 'INCOMPLETE' not in printed(net, 'ip', 'neighbour'),
        'no packet waits for an address',
    )
    net.mend()


def test_a_write_arrives_while_the_network_lasts(writer, server):
    tell(writer)
    assert writer.stdout.readline() == 'done\n'
    assert server.received == ['GET', 'DELETE']


def test_an_agent_that_gave_up_leaves_nothing_behind(writer, server, net):
    net.cut()
    tell(writer)
    assert f'within {LEASE} s' in writer.stdout.readline()
    mend(net)
    wait_for(lambda: not held_back(net, server), 'it arrived or was dropped')
    assert server.received == ['GET']


def test_an_agent_that_is_killed_leaves_nothing_behind(writer, server, net):
    net.cut()
    tell(writer)
    wait_for(lambda: held_back(net, server), 'it was sent')
    writer.kill()
    writer.wait()
    mend(net)
    wait_for(lambda: not held_back(net, server), 'it arrived or was dropped')
    assert server.received == ['GET']


def test_an_agent_that_stands_still_leaves_nothing_behind(writer, server, net):
    net.cut()
    tell(writer)
    wait_for(lambda: held_back(net, server), 'it was sent')
    stopped_process.freeze(writer.pid)
    wait_for(lambda: not held_back(net, server), 'the system gave up')
    mend(net)
    writer.send_signal(signal.SIGCONT)
    assert 'done' not in writer.stdout.readline()
    assert server.received == ['GET']


def test_a_network_that_is_back_in_time_delivers_it(writer, server, net):
    net.cut()
    tell(writer)
    wait_for(lambda: held_back(net, server), 'it was sent')
    net.mend()
    assert writer.stdout.readline() == 'done\n'
    assert server.received == ['GET', 'DELETE']
