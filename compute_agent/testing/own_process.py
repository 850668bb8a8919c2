# SPDX-License-Identifier: Apache-2.0
"""Does work in a process of its own, which the work may end.

A driver can end its process without a word: by ``os._exit``, or by a crash of a
library in C. The process that asked for the work then says so. Threads that the
work left end with its process. ``checking.py`` calls it.
"""

import contextlib
import json
import os
import signal
import traceback
import types
import typing
from collections.abc import Callable, Iterator

from .. import errors

#: The function with which the work sends a value that JSON has.
Tell = Callable[[typing.Any], None]

_RESULT, _ERROR, _FAILED, _INTERRUPTED, _TOLD = (
    'result',
    'error',
    'failed',
    'interrupted',
    'told',
)


class Ended(Exception):
    """The process ended before the work did; the text says how."""


def run(work: Callable[[Tell], typing.Any], hear: Tell) -> typing.Any:
    """Return the result of the work, a value that JSON has.

    :param hear: is called with each value that the work tells
    :raises Ended: the process ended before the work did
    :raises errors.ConfigError: the work raised an error of the agent
    :raises RuntimeError: the work raised something else
    :raises KeyboardInterrupt: SIGINT came, to this process or to the other
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        _do(work, writing)
    os.close(writing)
    with os.fdopen(reading, encoding='utf-8') as pipe, _ending(pid) as status:
        return _heard(pipe, hear, status)


def _heard(
    pipe: typing.TextIO, hear: Tell, status: Callable[[], int]
) -> typing.Any:
    for line in pipe:
        kind, value = json.loads(line)
        if kind == _TOLD:
            hear(value)
        elif kind == _RESULT:
            return value
        elif kind == _ERROR:
            raise errors.ConfigError(value)
        elif kind == _INTERRUPTED:
            raise KeyboardInterrupt
        else:
            raise RuntimeError(value)
    code = os.waitstatus_to_exitcode(status())
    raise Ended(
        f'with exit code {code}'
        if code >= 0
        else f'by {signal.Signals(-code).name}'
    )


@contextlib.contextmanager
def _ending(pid: int) -> Iterator[Callable[[], int]]:
    """Yield a function that waits for a process; none is left at the end.

    If this process is interrupted, the other one is, too, and gets the time to
    remove its folders, until the next interrupt.
    """
    found: list[int] = []

    def status() -> int:
        if not found:
            found.append(os.waitpid(pid, 0)[1])
        return found[0]

    try:
        yield status
    except BaseException:
        _send(pid, signal.SIGINT, found)
        raise
    finally:
        try:
            status()
        except KeyboardInterrupt:
            _send(pid, signal.SIGKILL, found)
            status()
            raise


def _send(pid: int, number: signal.Signals, found: list[int]) -> None:
    """Send a signal to a process that was not waited for."""
    if not found:
        os.kill(pid, number)


# --- in the other process -----------------------------------------------------


def _do(work: Callable[[Tell], typing.Any], writing: int) -> typing.NoReturn:
    """Do the work, tell its end, and end the process with all its threads."""
    try:
        _interrupt_once()
        with os.fdopen(writing, 'w', encoding='utf-8') as pipe:
            _write(pipe, *_done(work, lambda one: _write(pipe, _TOLD, one)))
    finally:
        os._exit(0)


def _done(
    work: Callable[[Tell], typing.Any], tell: Tell
) -> tuple[str, typing.Any]:
    """Return the end of the work: its kind and its value."""
    try:
        return _RESULT, work(tell)
    except KeyboardInterrupt:
        return _INTERRUPTED, ''
    except errors.AgentError as exc:
        return _ERROR, str(exc)
    except BaseException:  # noqa: BLE001 (the asking process raises it)
        return _FAILED, traceback.format_exc()


def _write(pipe: typing.TextIO, kind: str, value: typing.Any) -> None:
    json.dump([kind, value], pipe)
    pipe.write('\n')
    pipe.flush()


def _interrupt_once() -> None:
    """Let the first SIGINT or SIGTERM interrupt the work; ignore later ones.

    A terminal sends them to both processes, and then the asking one does.
    """

    def stop(_number: int, _frame: types.FrameType | None) -> typing.NoReturn:
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, stop)
