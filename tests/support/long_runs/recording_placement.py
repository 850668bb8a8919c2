# SPDX-License-Identifier: Apache-2.0
"""The real placement as a process that writes down what it is asked.

A program: it is given a listening socket's number, a database and a file to
which it adds one line of JSON for each request, in the order in which they
were answered: one thread answers all. Who asks is told by the token:
``admin:WHO``, and the epoch of an agent's lease by the header ``EPOCH``, if it
sends one. ``daemon.recorded_placement`` starts it.
"""

import contextlib
import fcntl
import io
import json
import pathlib
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TextIO
from wsgiref import types

from compute_agent.dev import embedded_placement, placement_app, wsgi_thread

EPOCH = 'X-Compute-Agent-Epoch'
_EPOCH = f'HTTP_{EPOCH.upper().replace("-", "_")}'


@contextlib.contextmanager
def turn(database: pathlib.Path) -> Iterator[None]:
    """Let no other process that asks for a turn use the database meanwhile.

    On a busy machine, SQLite has refused a write of placement at once while a
    test read the file ("database is locked"). The agent then waits a minute.
    """
    with pathlib.Path(f'{database}.turn').open('a') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Recorder:
    """A WSGI application that answers as another does, and writes it down."""

    def __init__(
        self,
        application: types.WSGIApplication,
        database: pathlib.Path,
        to: TextIO,
    ) -> None:
        self._application = application
        self._database = database
        self._to = to

    def __call__(
        self,
        environ: types.WSGIEnvironment,
        start_response: types.StartResponse,
    ) -> Iterable[bytes]:
        at = time.time()
        sent = environ['wsgi.input'].read(
            int(environ.get('CONTENT_LENGTH') or 0)
        )
        environ['wsgi.input'] = io.BytesIO(sent)
        status = 0

        def noted(line: str, *rest: Any) -> Any:
            nonlocal status
            status = int(line[:3])
            return start_response(line, *rest)

        with turn(self._database):
            parts = list(self._application(environ, noted))
        row = {
            'at': at,
            'who': environ.get('HTTP_X_AUTH_TOKEN', '').partition(':')[2],
            'epoch': environ.get(_EPOCH, ''),
            'method': environ['REQUEST_METHOD'],
            'path': environ['PATH_INFO'],
            'query': environ.get('QUERY_STRING', ''),
            'status': status,
            'body': json.loads(sent) if sent else None,
        }
        self._to.write(f'{json.dumps(row)}\n')
        return parts


def main(descriptor: str, database: str, record: str) -> None:
    """Serve until killed."""
    listener = socket.socket(fileno=int(descriptor))
    path = pathlib.Path(database)
    with (
        embedded_placement.lock(path),
        pathlib.Path(record).open('a', buffering=1) as to,
    ):
        application = placement_app.create_app(placement_app.sqlite_url(path))
        wsgi_thread.WsgiThread(Recorder(application, path, to), listener)
        signal.pause()


if __name__ == '__main__':
    main(*sys.argv[1:])
