# SPDX-License-Identifier: Apache-2.0
"""Stdout and stderr that a disk may fill and a shell may close.

What cannot be written to stdout is an error that says so, and is remembered,
for libraries swallow it. What cannot be written to stderr is lost: there is
nowhere left to say it. ``main.py`` puts both in place for all commands.
"""

import contextlib
import errno
import io
import os
import typing


class CannotWrite(OSError):
    """Stdout takes nothing more: its disk is full, or it is closed."""

    def __str__(self) -> str:
        return f'cannot write: {self.strerror}'


class Out:
    """A stream for results, in front of the process's own.

    :ivar failure: why something that was written is lost
    """

    def __init__(self, stream: typing.TextIO | None) -> None:
        self._stream = _Closed() if stream is None else stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text.

        :raises CannotWrite: it could not be
        :raises BrokenPipeError: whoever read it has ended
        """
        try:
            return self._stream.write(text)
        except OSError as exc:
            raise self._error(exc) from exc

    def flush(self) -> None:
        """Return when nothing is left to be written.

        :raises: what ``write`` does
        """
        try:
            if not self._stream.closed:  # cliff's pager closes broken pipes
                self._stream.flush()
        except OSError as exc:
            raise self._error(exc) from exc

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._stream, name)

    def give_up(self) -> None:
        """Let nothing that is left in a buffer be tried again at exit."""
        _send_nowhere(self._stream)

    def _error(self, exc: OSError) -> OSError:
        if not isinstance(exc, BrokenPipeError):
            exc = CannotWrite(exc.errno, exc.strerror)
        self.failure = exc
        return exc


class Remarks:
    """A stream for what is said beside the results; it never fails."""

    def __init__(self, stream: typing.TextIO | None) -> None:
        self._stream = _Closed() if stream is None else stream

    def write(self, text: str) -> int:
        """Write a text if that is possible."""
        try:
            return self._stream.write(text)
        except OSError:
            _send_nowhere(self._stream)
            return len(text)

    def flush(self) -> None:
        """Return when nothing is left that can be written."""
        try:
            self._stream.flush()
        except OSError:
            _send_nowhere(self._stream)

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._stream, name)


def _send_nowhere(stream: typing.Any) -> None:
    """Let what a stream still has go nowhere, instead of failing at exit."""
    with contextlib.suppress(OSError, ValueError):  # it has no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class _Closed(io.TextIOBase):
    """What Python has no stream for: the shell closed it (``>&-``)."""

    def write(self, text: str, /) -> int:  # noqa: ARG002
        raise OSError(errno.EBADF, 'stdout is closed')
