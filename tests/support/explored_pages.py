# SPDX-License-Identifier: Apache-2.0
"""The pages of ``explore`` as a test asks them: with a server, or without.

``pages(cli)`` is the site of a test's configuration. ``served`` has a server in
front of it, on a port or a unix socket.
"""

import collections.abc
import contextlib
import http.client
import json
import typing
import urllib.parse

import command_line

from compute_agent.cmd.app import main
from compute_agent.cmd.audit import audit
from compute_agent.cmd.explore import rendering, site, web_server
from compute_agent.cmd.explore.values import gate
from compute_agent.monitoring.values import address

PATIENCE = 60.0  # seconds; only a hang takes as long
COOKIE = 'compute_agent_test'


def options(cli: command_line.CommandLine) -> main.GlobalOptions:
    """Return the global options of a test's command line."""
    return main.GlobalOptions(
        config_files=[str(cli.config)], config_dirs=[], debug=False
    )


def pages(cli: command_line.CommandLine) -> site.Site:
    """Return the site of a test's configuration."""
    return site.Site(audit.load_conf(options(cli)))


def asked(path: str, **more: str) -> gate.Asked:
    """Return a request for a page that the gate let in."""
    parts = urllib.parse.urlsplit(path)
    return gate.Asked(
        method='GET',
        path=parts.path,
        query={**urllib.parse.parse_qs(parts.query), **_listed(more)},
        headers={},
    )


def _listed(values: dict[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in values.items()}


def html(made: site.Site, path: str, status: int = 200, **more: str) -> str:
    """Return a page as a browser gets it."""
    reply = made(asked(path, **more))
    text = b''.join(reply.body).decode()
    assert reply.status == status, text
    return text


def data(made: site.Site, path: str, **more: str) -> typing.Any:
    """Return the data of a page."""
    return json.loads(html(made, path, 200, format='json', **more))


class Server:
    """A server of pages, and a browser that may not be let in.

    :ivar guard: its gate
    """

    def __init__(self, port: int, guard: gate.Gate) -> None:
        self.port = port
        self.guard = guard
        self.host = f'127.0.0.1:{port}'
        self.cookie = ''

    def ask(
        self, path: str, method: str = 'GET', **headers: str
    ) -> tuple[http.client.HTTPResponse, str]:
        """Return the answer and its body.

        :param headers: with ``_`` for ``-``; an empty one is left out
        """
        sent = {'Host': self.host, 'Cookie': self.cookie}
        sent |= {name.replace('_', '-'): v for name, v in headers.items()}
        opened = http.client.HTTPConnection(
            '127.0.0.1', self.port, timeout=PATIENCE
        )
        with contextlib.closing(opened):
            opened.putrequest(method, path, skip_host=True)
            for name, value in sent.items():
                if value:
                    opened.putheader(name, value)
            opened.endheaders()
            answer = opened.getresponse()
            return answer, answer.read().decode()

    def enter(self, path: str = '/') -> http.client.HTTPResponse:
        """Use the token, and keep the cookie."""
        answer, _ = self.ask(f'{path}?token={self.guard.token}')
        self.cookie = (answer.getheader('Set-Cookie') or '').split(';')[0]
        return answer


@contextlib.contextmanager
def served(
    made: collections.abc.Callable[[gate.Asked], rendering.Reply],
) -> collections.abc.Iterator[Server]:
    """Serve pages on a free port."""
    with web_server.listener(address.parse('127.0.0.1:0')) as opened:
        guard = gate.Gate(COOKIE)
        server = web_server.WebServer(opened, guard, made)
        try:
            yield Server(opened.getsockname()[1], guard)
        finally:
            server.stop()
