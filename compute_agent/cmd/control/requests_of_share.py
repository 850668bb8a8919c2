# SPDX-License-Identifier: Apache-2.0
"""The control of a share's holder from any machine, through the shared database.

A command leaves a row with a request of ``protocol.py``. The daemon that holds
the share looks for such rows a few times while a lease lasts, takes them under
its epoch, and answers them as those of its socket (``answers.py``). A request is
carried out once at most: if its holder dies, the next one says that it did.

``Server`` is the daemon's side, ``ask`` the command's.
"""

import asyncio
import contextlib
import dataclasses
import logging
import socket
import threading
import time
import typing
from collections.abc import Callable, Iterator

from oslo_config import cfg

from ... import error_text, errors
from ..app import person
from . import client, protocol

if typing.TYPE_CHECKING:  # they need the extra "fleet"
    from ...fleet.shared_record import Asked
    from ..wiring import sharing
    from .answers import Answers

LOG = logging.getLogger(__name__)

_LOOK = 0.3  # seconds; a command looks for its answer
_OFTEN = 5  # times that a holder looks while its lease lasts
_STOPPING = 5.0  # seconds until the daemon ends without this thread
_STOPS = (
    'the daemon that reports stopped before the end; if changes were approved, '
    'the next one makes them'
)
_GONE = (
    'the agent that began it lost the share before the end: '
    '"compute-agent history" tells what was done; run the command again'
)


class Server(threading.Thread):
    """Answers the requests in the shared database while this agent reports.

    :param shared: the lease and the record of this agent
    """

    def __init__(self, shared: 'sharing.Sharing', answers: 'Answers') -> None:
        super().__init__(name='requests', daemon=True)
        self._shared = shared
        self._record = shared.record
        self._answers = answers
        self._open: dict[str, asyncio.Task[None]] = {}
        self._answered: dict[str, tuple[int, str]] = {}
        self._end = threading.Event()

    def run(self) -> None:
        """Look for requests, until the end."""
        asyncio.run(self._serve())

    def close(self) -> None:
        """Tell those who wait that the daemon stops, and end."""
        self._end.set()
        self.join(_STOPPING)

    async def _serve(self) -> None:
        pause = self._shared.seconds / _OFTEN
        due = 0.0
        while not self._end.is_set():
            if time.monotonic() >= due or self._answered:
                self._look()
                due = time.monotonic() + pause
            await asyncio.sleep(min(_LOOK, pause))
        for task in self._open.values():
            task.cancel()
        if self._open:
            await asyncio.wait(self._open.values(), timeout=1)
        self._look()

    def _look(self) -> None:
        """Take new requests, and leave the answers that are there."""
        epoch = self._shared.epoch
        if epoch is None:
            return
        try:
            for key, (of, text) in list(self._answered.items()):
                if of == epoch:
                    self._record.answer(epoch, key, text)
                del self._answered[key]
            if self._end.is_set():
                return
            for asked in self._record.take_asked(epoch):
                self._begin(asked, epoch)
        except errors.AgentError as exc:
            LOG.debug('the requests in the shared database: %s', exc)

    def _begin(self, asked: 'Asked', epoch: int) -> None:
        if asked.epoch != epoch:
            self._keep(asked.key, epoch, [protocol.failed(_GONE)])
        elif asked.key not in self._open:
            task = asyncio.ensure_future(self._carry_out(asked, epoch))
            self._open[asked.key] = task
            task.add_done_callback(lambda _: self._open.pop(asked.key))

    async def _carry_out(self, asked: 'Asked', epoch: int) -> None:
        """Carry a request out; its errors are its answer."""
        said = []
        try:
            request = protocol.request(asked.content.encode())
            async for answer in self._answers.to(request, _Person(asked)):
                said.append(answer)  # noqa: PERF401 (those before an error)
        except asyncio.CancelledError:
            said.append(protocol.failed(_STOPS))
        except errors.AgentError as exc:
            said.append(protocol.failed(str(exc)))
        except Exception as exc:
            LOG.exception('control: unexpected')
            said.append(protocol.failed(f'unexpected: {exc!r}'))
        self._keep(asked.key, epoch, said)

    def _keep(self, key: str, epoch: int, said: list[protocol.Answer]) -> None:
        lines = b''.join(map(protocol.answer_line, said))
        self._answered[key] = epoch, lines.decode()


class _Person:
    """The person who left a request."""

    def __init__(self, asked: 'Asked') -> None:
        self._asked = asked

    def user(self) -> str:
        moment = error_text.moment(self._asked.at)
        return f'{self._asked.who} (asked at {moment})'


def share_of(
    conf: cfg.ConfigOpts,
) -> contextlib.AbstractContextManager['sharing.Share']:
    """Connect to the database of this agent's share, to look at it.

    :raises errors.AgentError: the database or the share cannot be used
    """
    from ..wiring import sharing  # noqa: PLC0415 (needs the extra "fleet")

    return sharing.share_of(conf)


def ask(
    conf: cfg.ConfigOpts,
    request: protocol.Request,
    say: Callable[[str], object],
) -> Iterator[protocol.Answer]:
    """Yield the answers of the agent that holds the share.

    :param say: tells the person what the command waits for
    :raises client.NoDaemon: no agent took the request
    :raises errors.Refused: the holder refused
    :raises errors.Unavailable: the database does not answer, or the outcome is
        unknown
    """
    # The row has one answer, at the end.
    request = dataclasses.replace(request, progress=False)
    with share_of(conf) as share:
        say(f'{share.holder()}: it carries the command out')
        key = share.ask(
            protocol.request_line(request).decode(),
            f'{person.name()} on {socket.gethostname()}'[:255],
        )
        try:
            text = _answer(share, key)
        finally:
            with contextlib.suppress(errors.AgentError):
                share.record.withdraw(key)
    for line in text.splitlines():
        answer = protocol.answer(line.encode())
        if answer.kind is protocol.Kind.ERROR:
            raise errors.Refused(str(answer.data.get('error')))
        yield answer


def _answer(share: 'sharing.Share', key: str) -> str:
    """Wait for the answer to a request."""
    watch = share.watch()
    while True:
        asked = share.record.asked(key)
        if asked is None:
            raise errors.Unavailable(_GONE)
        if asked.answer is not None:
            return asked.answer
        if watch.is_dead():
            if asked.epoch:
                raise errors.Unavailable(_GONE)
            if share.record.withdraw(key):
                raise client.NoDaemon(
                    f'no agent reports the share {share.name} now'
                )
        time.sleep(_LOOK)
