# SPDX-License-Identifier: Apache-2.0
"""Wrap stdout and stderr, for a full disk or a closed stream.

A failed write to stdout raises an error. The error is also remembered, because
libraries may swallow it. A failed write to stderr is ignored, because there is
nowhere to report it. ``main.py`` installs both streams for all commands.
"""

import contextlib
import errno
import io
import os
import sys
import typing
from collections.abc import Iterator


class CannotWrite(OSError):
    """Stdout cannot be written: the disk is full, or the stream is closed."""

    def __str__(self) -> str:
        return f'cannot write: {self.strerror}'


class Out:
    """The stream for results; it wraps the stdout of the process.

    :ivar failure: the error that lost output, or None
    """

    def __init__(self, stream: typing.TextIO | None) -> None:
        self._stream = _Closed() if stream is None else stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text.

        :raises CannotWrite: the stream cannot be written
        :raises BrokenPipeError: the reader has closed the pipe
        """
        try:
            return self._stream.write(text)
        except OSError as exc:
            raise self._error(exc) from exc

    def flush(self) -> None:
        """Write the buffered text.

        :raises: the same errors as ``write``
        """
        try:
            if not self._stream.closed:  # cliff's pager closes broken pipes
                self._stream.flush()
        except OSError as exc:
            raise self._error(exc) from exc

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._stream, name)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep what others print, such as drivers, out of the results.

        It goes to stderr: prints of Python, of libraries in C and of children.
        """
        descriptor = self._descriptor()
        kept = self._stream
        if descriptor is not None:
            kept.flush()
            self._stream = io.TextIOWrapper(
                os.fdopen(descriptor, 'wb'),
                encoding=kept.encoding,
                errors=kept.errors,
                line_buffering=kept.isatty(),
            )
        try:
            with contextlib.redirect_stdout(sys.stderr):
                yield
        finally:
            if descriptor is not None:
                self._put_back(kept, descriptor)

    def _put_back(self, kept: typing.Any, descriptor: int) -> None:
        """Let stdout have the results again; an error is remembered."""
        with contextlib.suppress(OSError):
            self.flush()
        os.dup2(descriptor, 1)
        if self.failure is not None:
            self.give_up()
        with contextlib.suppress(OSError):
            self._stream.close()
        self._stream = kept

    def _descriptor(self) -> int | None:
        """Return another descriptor of stdout; stderr gets the number 1.

        None if the stream is no file of the process, as in tests.
        """
        try:
            if self._stream.fileno() != 1:
                return None
            descriptor = os.dup(1)
            os.dup2(2, 1)
        except OSError:
            return None
        return descriptor

    def give_up(self) -> None:
        """Discard the buffer, so that Python does not write it at exit."""
        _discard(self._stream)

    def _error(self, exc: OSError) -> OSError:
        if not isinstance(exc, BrokenPipeError):
            exc = CannotWrite(exc.errno, exc.strerror)
        self.failure = exc
        return exc


class Messages:
    """The stream for messages; it wraps stderr, and never fails."""

    def __init__(self, stream: typing.TextIO | None) -> None:
        self._stream = _Closed() if stream is None else stream

    def write(self, text: str) -> int:
        """Write a text, if possible."""
        try:
            return self._stream.write(text)
        except OSError:
            _discard(self._stream)
            return len(text)

    def flush(self) -> None:
        """Write the buffered text, if possible."""
        try:
            self._stream.flush()
        except OSError:
            _discard(self._stream)

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._stream, name)


def _discard(stream: typing.Any) -> None:
    """Redirect a stream to /dev/null, so that Python's exit does not fail."""
    with contextlib.suppress(OSError, ValueError):  # no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class _Closed(io.TextIOBase):
    """The stream in place of one that the shell closed (``>&-``)."""

    def write(self, text: str, /) -> int:  # noqa: ARG002
        raise OSError(errno.EBADF, 'stdout is closed')
