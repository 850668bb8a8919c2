# SPDX-License-Identifier: Apache-2.0
"""A WSGI application served from threads of this process, by waitress.

One thread does the sockets of any number of clients, one other calls the
application, so the application sees one request at a time. It knows nothing
of placement. ``embedded_placement.py`` imports it late: waitress comes with
the ``embedded`` extra.
"""

import logging
import socket
import threading
from wsgiref import types

import waitress.server
import waitress.wasyncore

_STOP_SECONDS = 0.4


class WsgiThread:
    """Serves one application on one listening socket until it is stopped."""

    def __init__(
        self, application: types.WSGIApplication, listener: socket.socket
    ) -> None:
        # Clients that wait for the one worker are the plan, not a warning.
        logging.getLogger('waitress.queue').setLevel(logging.ERROR)
        self._sockets: dict[int, object] = {}
        self._server = waitress.server.create_server(
            application,
            map=self._sockets,
            sockets=[listener],
            threads=1,
            connection_limit=1000,
            asyncore_use_poll=True,
            ident=None,
        )
        self._thread = threading.Thread(
            target=self._server.run, name='embedded-placement', daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let the running request end, then close every socket."""
        self._server.task_dispatcher.shutdown(timeout=_STOP_SECONDS)
        # Sockets belong to the serving thread: it closes them, and having
        # none left it ends.
        self._server.trigger.pull_trigger(self._close_all)
        self._thread.join(_STOP_SECONDS)

    def _close_all(self) -> None:
        waitress.wasyncore.close_all(self._sockets, ignore_all=True)
