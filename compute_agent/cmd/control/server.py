# SPDX-License-Identifier: Apache-2.0
"""The thread that serves the control socket of the daemon.

One thread serves all connections and waits for none of them: each has a
deadline for its request and for taking each answer, and the number of
connections is limited. The thread shares nothing with a cycle that a client
could hold, so no client delays a cycle. At the end of the daemon it tells
those who wait for a cycle, and is not waited for. ``answers.py`` makes the
answers.
"""

import asyncio
import contextlib
import dataclasses
import logging
import os
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable, Collection

from ... import errors, file_trust, forks
from . import protocol

LOG = logging.getLogger(__name__)

ASKING = 5.0  # seconds until a client must have sent its request
TAKING = 30.0  # seconds until it must have taken an answer
MOST = 32  # connections; more are refused
STOPPING = 1.0  # seconds until the daemon ends without this thread

_CREDENTIALS = struct.Struct('3i')
_STOPS = 'the daemon stops; a cycle that runs goes on at its next start'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The process at the other end of a connection, as the kernel tells it."""

    pid: int
    uid: int

    def __str__(self) -> str:
        return f'user {self.user()} (process {self.pid})'

    def user(self) -> str:
        """Return the user's name; without a name, the user's number."""
        return file_trust.user(self.uid).removeprefix('user ')


Answers = Callable[[protocol.Request, Peer], AsyncIterator[protocol.Answer]]


class Server(threading.Thread):
    """Serves the control socket until it is closed.

    :param listener: the socket, which listens; the server closes it
    :param answers: yields the answers to a request
    :param trusted: the users that may ask
    """

    def __init__(
        self,
        listener: socket.socket,
        answers: Answers,
        trusted: Collection[int] = (),
    ) -> None:
        super().__init__(name='control', daemon=True)
        self._listener = listener
        self._answers = answers
        self._trusted = trusted or {0, os.geteuid()}
        self._distrusted = set[int]()
        self._open = set[asyncio.Task[None]]()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._began = threading.Event()

    def run(self) -> None:
        """Serve; an unexpected error ends the serving, not the daemon."""
        try:
            with forks.closed_in_child(self._listener.fileno()):
                asyncio.run(self._serve())
        except Exception as exc:  # noqa: BLE001 (the daemon goes on)
            LOG.error(  # noqa: TRY400 (no traceback)
                'the control socket is closed, because of an unexpected %r; '
                'the daemon goes on without it',
                exc,
            )
        finally:
            self._began.set()
            self._listener.close()

    def close(self) -> None:
        """Tell those who wait that the daemon stops, and end the serving."""
        self._began.wait(STOPPING)
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it ended already
                loop.call_soon_threadsafe(self._end.set)
        self.join(STOPPING)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        # start_unix_server would look for the socket's file, and remove it at
        # the end, since Python 3.13; address.py does both.
        server = await asyncio.start_server(
            self._connected, sock=self._listener, limit=protocol.MOST_ASKED
        )
        self._began.set()
        await self._end.wait()
        server.close()
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open, timeout=STOPPING / 2)

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one connection; its errors do not reach the daemon."""
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
            task.add_done_callback(self._open.discard)
        connection = _Connection(reader, writer)
        try:
            await self._exchange(connection)
        except asyncio.CancelledError:
            connection.say_at_once(protocol.failed(_STOPS))
        except (OSError, TimeoutError) as exc:
            LOG.debug('a control connection ended: %r', exc)
        except errors.AgentError as exc:
            connection.say_at_once(protocol.failed(str(exc)))
        except Exception as exc:
            LOG.exception('control: unexpected')
            connection.say_at_once(protocol.failed(f'unexpected: {exc!r}'))
        finally:
            writer.transport.abort()

    async def _exchange(self, connection: '_Connection') -> None:
        """Read a request, and send its answers.

        :raises errors.AgentError: the daemon did not carry the request out
        """
        if len(self._open) > MOST:
            raise errors.Refused(
                f'{MOST} commands ask this daemon already; wait until one of '
                'them ends'
            )
        peer = connection.peer()
        self._check(peer)
        request = await connection.request()
        LOG.debug('%s asks: %s', peer, request)
        sending = asyncio.ensure_future(
            connection.send(self._answers(request, peer))
        )
        gone = asyncio.ensure_future(connection.wait_until_gone())
        try:
            await asyncio.wait(
                {sending, gone}, return_when=asyncio.FIRST_COMPLETED
            )
            if sending.done():
                sending.result()
        finally:
            for each in (sending, gone):
                each.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)

    def _check(self, peer: Peer) -> None:
        """Refuse a user who may not ask; say so once.

        :raises errors.Refused: it is another user than root and the daemon's
        """
        if peer.uid in self._trusted:
            return
        if peer.uid not in self._distrusted:
            self._distrusted.add(peer.uid)
            LOG.warning('the control socket refuses %s', peer)
        raise errors.Refused('only root and the user of the daemon may ask it')


class _Connection:
    """One connection, as lines of the protocol."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(0)  # drain waits for all

    def peer(self) -> Peer:
        opened = self._writer.get_extra_info('socket')
        found = opened.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
        )
        pid, uid, _ = _CREDENTIALS.unpack(found)
        return Peer(pid=pid, uid=uid)

    async def request(self) -> protocol.Request:
        """Return the request.

        :raises errors.Refused: the line is no request that this daemon
            understands
        """
        try:
            async with asyncio.timeout(ASKING):
                line = await self._reader.readline()
        except ValueError as exc:
            raise errors.Refused(
                f'a request has at most {protocol.MOST_ASKED} bytes'
            ) from exc
        return protocol.request(line)

    async def send(self, answers: AsyncIterator[protocol.Answer]) -> None:
        """Send each answer as soon as it is there.

        :raises TimeoutError: the client does not take it
        """
        async for answer in answers:
            self._writer.write(protocol.answer_line(answer))
            async with asyncio.timeout(TAKING):
                await self._writer.drain()

    def say_at_once(self, answer: protocol.Answer) -> None:
        """Send an answer, if the client can take it now."""
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.write(protocol.answer_line(answer))

    async def wait_until_gone(self) -> None:
        """Return when the client left; it has nothing to say after a request."""
        with contextlib.suppress(OSError):
            await self._reader.read(1)
