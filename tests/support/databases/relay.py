# SPDX-License-Identifier: Apache-2.0
"""The network between a client and a server: a relay of TCP connections.

It can be cut (connections end, new ones are refused), held (nothing arrives,
nothing ends: a cable that was pulled) or slow, and it tells each new
connection where the server is now, as a floating address does.
"""

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

Address = tuple[str, int]

_LOOK = 0.5  # seconds from one look at "is over" to the next
# Seconds until a connection of a client that is gone ends, as at a server.
_KEEPALIVE = {
    socket.TCP_KEEPIDLE: 5,
    socket.TCP_KEEPINTVL: 1,
    socket.TCP_KEEPCNT: 3,
}
_RESET = struct.pack('ii', 1, 0)  # close at once, with what was not sent


class Relay:
    """Listens at ``address`` and passes on; all threads end with ``close``.

    :param target: returns where the server is
    :ivar address: host and port
    :ivar delay: seconds by which all that a client sends is late
    """

    def __init__(
        self, target: Callable[[], Address], host: str = '127.0.0.1'
    ) -> None:
        self._target = target
        self._listener = socket.create_server((host, 0), backlog=100)
        found = self._listener.getsockname()
        self.address: Address = (found[0], found[1])
        self.delay = 0.0
        self._open: set[socket.socket] = set()
        self._ports: set[int] = set()
        self._lock = threading.Lock()
        self._asks, self._answers = threading.Event(), threading.Event()
        self._is_cut = self._is_over = False
        self.mend()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def ports(self) -> set[int]:
        """The ports of the connections of now, as the server sees them."""
        with self._lock:
            return set(self._ports)

    def hold(self) -> None:
        """Let nothing arrive any more; connections stay."""
        self._asks.clear()
        self._answers.clear()

    def hold_answers(self) -> None:
        """Let nothing arrive that the server sends."""
        self._answers.clear()

    def cut(self) -> None:
        """Reset all connections, and each new one."""
        self._is_cut = True
        self.drop()

    def mend(self) -> None:
        """Let all arrive; what was held arrives now."""
        self._is_cut = False
        self._flow()

    def drop(self) -> None:
        """Reset the connections of now; new ones are passed on."""
        with self._lock:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                    one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End all."""
        self._is_over = True
        self._flow()
        self.drop()
        self._listener.shutdown(socket.SHUT_RDWR)  # it waits for nobody now
        for thread in self._threads:
            thread.join()
        self.drop()
        self._listener.close()

    def _accept(self) -> None:
        while not self._is_over:
            with contextlib.suppress(OSError):  # nobody came, or is gone
                client, _ = self._listener.accept()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for option, value in _KEEPALIVE.items():
                    client.setsockopt(socket.IPPROTO_TCP, option, value)
                thread = threading.Thread(target=self._pass, args=(client,))
                self._threads.append(thread)
                thread.start()

    def _pass(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            self._asks.wait()
            if self._is_cut or self._is_over:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return
            with (
                socket.create_connection(self._target()) as server,
                self._kept(client, server),
            ):
                self._pump(client, server)

    @contextlib.contextmanager
    def _kept(
        self, client: socket.socket, server: socket.socket
    ) -> Iterator[None]:
        port = server.getsockname()[1]
        with self._lock:
            self._open |= {client, server}
            self._ports |= {port}
        try:
            yield
        finally:
            with self._lock:
                self._open -= {client, server}
                self._ports -= {port}

    def _pump(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with selectors.DefaultSelector() as selector:
            for one in other:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(one, selectors.EVENT_READ)
            while not self._is_over:
                for key, _ in selector.select(_LOOK):
                    source = key.fileobj
                    assert isinstance(source, socket.socket)
                    content = source.recv(65536)
                    if not content:
                        return
                    if source is client:
                        time.sleep(self.delay)
                        self._asks.wait()
                    else:
                        self._answers.wait()
                    other[source].sendall(content)

    def _flow(self) -> None:
        self._asks.set()
        self._answers.set()


@contextlib.contextmanager
def relaying(
    target: Callable[[], Address], host: str = '127.0.0.1'
) -> Iterator[Relay]:
    """Yield a relay to where ``target`` says."""
    relay = Relay(target, host)
    try:
        yield relay
    finally:
        relay.close()
