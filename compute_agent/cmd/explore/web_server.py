# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of a person's pages: waitress behind the gate.

It listens on this machine only. A connection too many gets one line and is
closed; a client that stays silent is dropped. ``explore.py`` starts it.
Waitress comes with the extra ``explore``.
"""

import contextlib
import logging
import socket
import typing
import urllib.parse
from collections.abc import Callable, Iterable, Iterator
from wsgiref import types

import waitress.channel

from ... import errors
from ...dev import wsgi_thread
from ...monitoring import listening
from ...monitoring.values.address import Address
from . import rendering
from .values import gate

LOG = logging.getLogger(__name__)

MOST = 100  # connections at a time
_SILENT = 30  # seconds after which a silent client is dropped
_WORKERS = 4  # pages that are made at a time
_LONGEST = 32_768  # bytes of a request's head, with a pasted flavor
_PARAMETERS = 64
_SOCKET_MODE = 0o600
_TOO_MANY = b'too many connections are open: close some and ask again\n'

#: Makes the reply to a request that the gate let in.
Site = Callable[[gate.Asked], rendering.Reply]


@contextlib.contextmanager
def listener(address: Address) -> Iterator[socket.socket]:
    """Lend a socket that listens at an address of this machine.

    :raises errors.ConfigError: the address cannot be used
    """
    family, where = _place(address)
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.make_way(address.path)
        if address.path is None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(where)
        if address.path is not None:
            address.path.chmod(_SOCKET_MODE)
        made.listen(1024)
    except OSError as exc:
        made.close()
        why = listening.refusal('--bind', address, exc)
        raise errors.ConfigError(why) from exc
    try:
        yield made
    finally:
        made.close()
        if address.path is not None:
            address.path.unlink(missing_ok=True)


def _place(address: Address) -> tuple[socket.AddressFamily, typing.Any]:
    if address.path is not None:
        return socket.AF_UNIX, str(address.path)
    is_ipv6 = address.is_ipv6
    family = socket.AF_INET6 if is_ipv6 else socket.AF_INET
    return family, (address.host, address.port)


class WebServer:
    """Serves pages on a listening socket, in threads of this process.

    :param site: makes the replies; its errors are the site's to explain
    """

    def __init__(
        self, opened: socket.socket, guard: gate.Gate, site: Site
    ) -> None:
        self._guard = guard
        self._site = site
        logging.getLogger('waitress').setLevel(logging.ERROR)
        self._served = wsgi_thread.WsgiThread(
            self._application,
            opened,
            name='pages',
            channel=self._channel,
            threads=_WORKERS,
            connection_limit=10 * MOST,
            channel_timeout=_SILENT,
            cleanup_interval=5,
            max_request_header_size=_LONGEST,
            max_request_body_size=1,
            clear_untrusted_proxy_headers=True,
        )

    def stop(self) -> None:
        """Wait briefly for the pages under way, then close every socket."""
        self._served.stop()

    def _channel(
        self,
        server: typing.Any,
        opened: socket.socket,
        *more: typing.Any,
        **named: typing.Any,
    ) -> None:
        """Take a connection; one too many gets a line."""
        if len(server.active_channels) < MOST:
            waitress.channel.HTTPChannel(server, opened, *more, **named)
            return
        with contextlib.suppress(OSError), opened:
            opened.setblocking(False)
            head = rendering.text(503, '').head()
            lines = [f'{name}: {value}' for name, value in head]
            lines += [f'Content-Length: {len(_TOO_MANY)}', 'Connection: close']
            text = '\r\n'.join(['HTTP/1.1 503 Service Unavailable', *lines])
            opened.send(f'{text}\r\n\r\n'.encode() + _TOO_MANY)

    def _application(
        self,
        environ: types.WSGIEnvironment,
        start: types.StartResponse,
    ) -> Iterable[bytes]:
        """Answer one request, as WSGI has it."""
        reply = self._reply(environ)
        start(reply.status_line, reply.head())
        return [] if environ['REQUEST_METHOD'] == 'HEAD' else reply.body

    def _reply(self, environ: types.WSGIEnvironment) -> rendering.Reply:
        asked = _asked(environ)
        if asked is None:
            return rendering.text(400, 'this address is none: open a link')
        verdict = self._guard.judge(asked)
        if isinstance(verdict, gate.Refusal):
            LOG.debug('refused: %s', verdict.line)
            return rendering.text(verdict.status, verdict.line)
        if isinstance(verdict, gate.Entry):
            return rendering.redirect(verdict.path, verdict.cookie)
        return self._site(asked)


def _asked(environ: types.WSGIEnvironment) -> gate.Asked | None:
    """Return the request; None if its address cannot be decoded."""
    try:
        query = urllib.parse.parse_qs(
            environ.get('QUERY_STRING', ''),
            max_num_fields=_PARAMETERS,
            errors='strict',
        )
        path = environ['PATH_INFO'].encode('latin-1').decode()
    except ValueError:
        return None
    return gate.Asked(
        method=environ['REQUEST_METHOD'],
        path=path,
        query=query,
        headers={
            name.removeprefix('HTTP_').replace('_', '-').lower(): str(value)
            for name, value in environ.items()
            if name.startswith('HTTP_')
        },
    )
