# SPDX-License-Identifier: Apache-2.0
"""A command's side of the control socket: ask the daemon, read its answers.

The daemon answers the first line at once, also while a cycle hangs. The result
of a cycle may take as long as the cycle; a daemon that ends closes the
connection, so a command never waits for a dead one.
"""

import contextlib
import os
import pathlib
import socket
import typing
from collections.abc import Iterator

from ... import error_text, errors
from . import address, protocol

PATIENCE = 20.0  # seconds until the daemon has begun to answer

_ENDED = (
    'the daemon ended, or was killed, before it answered; its log says why'
)


class NoDaemon(errors.ConfigError):
    """No daemon listens at the control socket."""


def ask(
    folder: pathlib.Path, request: protocol.Request
) -> Iterator[protocol.Answer]:
    """Yield the daemon's answers; the last one is of ``protocol.LAST``.

    :param folder: the state directory
    :raises NoDaemon: there is no daemon behind the socket
    :raises errors.Refused: the daemon refused, or it cannot be understood
    :raises errors.Unavailable: the daemon ended, or does not answer
    """
    line = protocol.request_line(request)
    with contextlib.closing(_connected(folder)) as connection:
        # A daemon that refuses a person answers before it has read all.
        with contextlib.suppress(ConnectionError):
            _send(connection, line)
        with connection.makefile('rb') as lines:
            while True:
                answer = _answer(lines)
                if answer.kind is protocol.Kind.ERROR:
                    raise errors.Refused(str(answer.data.get('error')))
                yield answer
                if answer.kind in protocol.LAST:
                    return
                connection.settimeout(None)


def only(folder: pathlib.Path, request: protocol.Request) -> protocol.Answer:
    """Return the last answer to a request.

    :raises: the same errors as ``ask``
    """
    *_, last = ask(folder, request)
    return last


def person() -> str:
    """Return the person behind ``sudo``; empty if there is none."""
    return os.environ.get('SUDO_USER', '')


def _connected(folder: pathlib.Path) -> socket.socket:
    path = folder / address.NAME
    try:
        return address.connected(folder, PATIENCE)
    except PermissionError as exc:
        raise errors.ConfigError(
            f'{path}: {exc.strerror}: run the command as root or as the '
            "daemon's user"
        ) from exc
    except OSError as exc:
        why = exc.strerror or error_text.one_line(exc)
        raise NoDaemon(f'no daemon answers at {path} ({why})') from exc


def _send(connection: socket.socket, line: bytes) -> None:
    try:
        connection.sendall(line)
    except TimeoutError as exc:
        raise _silent() from exc


def _answer(lines: typing.BinaryIO) -> protocol.Answer:
    try:
        line = lines.readline(protocol.MOST_SAID + 1)
    except TimeoutError as exc:
        raise _silent() from exc
    except OSError as exc:
        raise errors.Unavailable(_ENDED) from exc
    if not line.endswith(b'\n'):
        raise errors.Unavailable(_ENDED)
    return protocol.answer(line)


def _silent() -> errors.Unavailable:
    return errors.Unavailable(
        f'the daemon has not answered for {PATIENCE:.0f} s; SIGUSR2 has it '
        'write what its threads do into report.txt'
    )
