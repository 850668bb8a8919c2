# SPDX-License-Identifier: Apache-2.0
"""Prove that an embedded placement belongs to a state directory.

Any local user may listen at the port of the embedded placement, and every
client is an administrator there. So the service writes a secret into a private
file beside its database, and answers a challenge with a digest that needs it.
The client asks on each new connection, before it sends anything else. The
digest includes the port, so a service at another port cannot pass the challenge
on to this one. ``embedded_placement.py`` and the wiring of placement call it.
"""

import contextlib
import hashlib
import hmac
import http.client
import os
import pathlib
import secrets
from collections.abc import Iterable
from wsgiref import types

from urllib3 import connection

from .. import errors, private_files
from ..state.database import lock

_PATH = '/embedded-placement/'
_MOST = 128  # bytes of a challenge, or of its answer


def secret_file(database: pathlib.Path) -> pathlib.Path:
    """Return the path of the secret of the service with this database."""
    return database.with_name(f'{database.name}.secret')


def make_secret(path: pathlib.Path) -> str:
    """Write a new secret and return it.

    :raises OSError: the file cannot be written
    """
    secret = secrets.token_hex(32)
    file = private_files.open_file(path)
    try:
        os.ftruncate(file, 0)
        os.write(file, secret.encode())
    finally:
        os.close(file)
    return secret


class ProvingApplication:
    """Middleware that answers challenges; it passes on all other requests."""

    def __init__(
        self, application: types.WSGIApplication, secret: str, port: int
    ) -> None:
        self._application = application
        self._secret = secret
        self._port = port

    def __call__(
        self,
        environ: types.WSGIEnvironment,
        start_response: types.StartResponse,
    ) -> Iterable[bytes]:
        """Answer a challenge, or pass the request on."""
        path = environ.get('PATH_INFO', '')
        if not path.startswith(_PATH):
            return self._application(environ, start_response)
        challenge = path.removeprefix(_PATH)[:_MOST]
        body = _digest(self._secret, challenge, self._port).encode()
        headers = [
            ('Content-Type', 'text/plain'),
            ('Content-Length', str(len(body))),
        ]
        start_response('200 OK', headers)
        return [body]


#: Seconds for an answer to a challenge; the service needs a few milliseconds.
PATIENCE = 10.0


def check(database: pathlib.Path, opened: connection.HTTPConnection) -> None:
    """Challenge the service behind a connection that was just opened.

    :raises errors.Unavailable: the service does not have this database
    :raises OSError: the connection failed
    """
    challenge = secrets.token_hex(16)
    answer = _answer(opened, challenge)
    path = secret_file(database)
    try:
        with lock.as_owner(database.parent):
            private_files.check_file(path)
            secret = path.read_text('ascii', 'replace')
    except FileNotFoundError:
        secret = ''
    except OSError as exc:
        raise errors.Unavailable(
            f'{path}, by which the embedded placement is recognized, cannot be '
            f'read ({exc.strerror}): run this as the user who started it'
        ) from exc
    expected = _digest(secret, challenge, opened.port or 0).encode()
    if not secret or not hmac.compare_digest(answer, expected):
        raise errors.Unavailable(
            f'the service at http://{opened.host}:{opened.port} is not the '
            f'embedded placement of {database.parent}, so nothing was sent to '
            'it: stop that service, or set another port in [placement] '
            'embedded_port'
        )


def _answer(opened: connection.HTTPConnection, challenge: str) -> bytes:
    """Return the answer to a challenge; empty if it does not come in time.

    http.client has begun a request when it opens a connection, so this request
    does not go through it.
    """
    patience = opened.sock.gettimeout()
    opened.sock.settimeout(PATIENCE)
    opened.sock.sendall(
        f'GET {_PATH}{challenge} HTTP/1.1\r\n'
        f'Host: {opened.host}:{opened.port}\r\n\r\n'.encode()
    )
    with contextlib.closing(
        opened.response_class(opened.sock, method='GET')
    ) as answer:
        try:
            answer.begin()
            body = answer.read(_MOST)
        except (http.client.HTTPException, TimeoutError):
            return b''
        opened.sock.settimeout(patience)
        is_whole = answer.status == http.HTTPStatus.OK and answer.isclosed()
        return body if is_whole else b''


def _digest(secret: str, challenge: str, port: int) -> str:
    words = f'{challenge} {port}'.encode('utf-8', 'surrogateescape')
    return hmac.new(secret.encode(), words, hashlib.sha256).hexdigest()
