# SPDX-License-Identifier: Apache-2.0
"""A WSGI application served by waitress, in threads of this process.

One thread handles the sockets of all clients, and others call the application.
With one of these, it handles one request at a time. The module knows nothing of
placement. ``embedded_placement.py`` imports it late, because waitress comes with
an extra; the pages of ``explore`` are served by it, too.
"""

import logging
import socket
import threading
import typing
from wsgiref import types

import waitress.server
import waitress.wasyncore

_STOP_SECONDS = 0.4


class WsgiThread:
    """Serves one application on one listening socket until it is stopped.

    :param name: of the thread that handles the sockets
    :param channel: takes a connection in the place of waitress's own class
    :param settings: waitress's, in the place of those of a single worker
    """

    def __init__(
        self,
        application: types.WSGIApplication,
        listener: socket.socket,
        *,
        name: str = 'embedded-placement',
        channel: typing.Any = None,
        **settings: object,
    ) -> None:
        # Clients are expected to wait for a worker: no warning.
        logging.getLogger('waitress.queue').setLevel(logging.ERROR)
        self._sockets: dict[int, object] = {}
        self._server = waitress.server.create_server(
            application,
            map=self._sockets,
            sockets=[listener],
            asyncore_use_poll=True,
            ident=None,
            **{'threads': 1, 'connection_limit': 1000, **settings},
        )
        if channel is not None:
            self._server.channel_class = channel
        self._thread = threading.Thread(
            target=self._server.run, name=name, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Wait briefly for the running requests, then close every socket."""
        self._server.task_dispatcher.shutdown(timeout=_STOP_SECONDS)
        # The sockets belong to the serving thread. It closes them, and ends
        # because none is left. Another wake-up may come first; under the lock
        # it cannot close the trigger's pipe before this one writes to it.
        trigger = self._server.trigger
        with trigger.lock:
            trigger.thunks.append(self._close_all)
            trigger.pull_trigger()
        self._thread.join(_STOP_SECONDS)

    def _close_all(self) -> None:
        waitress.wasyncore.close_all(self._sockets, ignore_all=True)
