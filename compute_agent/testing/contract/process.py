# SPDX-License-Identifier: Apache-2.0
"""The things that a process has once, and that a driver must not change.

The driver is a guest in the agent's process: the working directory, the
environment, the handlers of signals, the root logger, the hooks of ``sys`` and
the standard streams are the agent's. ``rules/guests.py`` looks at them before
and after each call.
"""

import contextlib
import dataclasses
import gc
import importlib
import io
import locale
import logging
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from . import watch

_SECONDS = 120  # for the other process
_SHOWN = 60  # characters of a value in a message


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """One thing of the process: its value, and what puts it back."""

    get: Callable[[], Any]
    put: Callable[[Any], object]


def _attribute(owner: Any, name: str) -> _Place:
    return _Place(
        get=lambda: getattr(owner, name),
        put=lambda value: setattr(owner, name, value),
    )


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _set_environment(value: Mapping[str, str]) -> None:
    for name in os.environ.keys() - value.keys():
        del os.environ[name]
    os.environ.update(value)


def _set_list(owner: Callable[[], list[Any]]) -> Callable[[Any], object]:
    def put(value: list[Any]) -> None:
        owner()[:] = value

    return put


def _set_collector(is_enabled: bool) -> None:  # noqa: FBT001 (a value)
    (gc.enable if is_enabled else gc.disable)()


_PLACES: Mapping[str, _Place] = {
    'the working directory': _Place(get=os.getcwd, put=os.chdir),
    'the environment': _Place(
        get=lambda: dict(os.environ), put=_set_environment
    ),
    'the umask': _Place(get=_umask, put=os.umask),
    'the handlers of the root logger': _Place(
        get=lambda: list(logging.root.handlers),
        put=_set_list(lambda: logging.root.handlers),
    ),
    'the level of the root logger': _attribute(logging.root, 'level'),
    'logging.disable': _attribute(logging.root.manager, 'disable'),
    'sys.excepthook': _attribute(sys, 'excepthook'),
    'sys.unraisablehook': _attribute(sys, 'unraisablehook'),
    'threading.excepthook': _attribute(threading, 'excepthook'),
    'sys.stdout': _attribute(sys, 'stdout'),
    'sys.stderr': _attribute(sys, 'stderr'),
    'sys.path': _Place(
        get=lambda: list(sys.path), put=_set_list(lambda: sys.path)
    ),
    'the filters of warnings': _Place(
        get=lambda: list(warnings.filters),
        put=_set_list(lambda: warnings.filters),  # type: ignore[arg-type, return-value]
    ),
    'the locale': _Place(
        get=lambda: locale.setlocale(locale.LC_ALL),
        put=lambda value: locale.setlocale(locale.LC_ALL, value),
    ),
    'the default time-out of sockets': _Place(
        get=socket.getdefaulttimeout, put=socket.setdefaulttimeout
    ),
    'the check of certificates of https': _attribute(
        ssl, '_create_default_https_context'
    ),
    'the collection of garbage': _Place(get=gc.isenabled, put=_set_collector),
    'the recursion limit': _Place(
        get=sys.getrecursionlimit, put=sys.setrecursionlimit
    ),
}


#: The changes that libraries make to a process when they are imported.
_OF_IMPORTS = frozenset(
    {
        'the filters of warnings',
        'sys.path',
        'the collection of garbage',
        'the recursion limit',
    }
)


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Put everything back at the end of the ``with``."""
    before = _values()
    try:
        yield
    finally:
        _put_back(before)


def _values() -> dict[str, Any]:
    return {title: one.get() for title, one in _PLACES.items()}


def _put_back(before: Mapping[str, Any]) -> None:
    for title, one in _PLACES.items():
        if one.get() != before[title]:
            one.put(before[title])


class Guest:
    """Looks at what a driver does to the process."""

    def __init__(self) -> None:
        self._before: Mapping[str, Any] = {}
        self._signals: list[str] = []
        self._out = _Heard(sys.stdout)
        self._err = _Heard(sys.stderr)

    def change(self, ignored: Container[str] = ()) -> str:
        """Return the first thing that changed; empty if nothing changed.

        All things get their earlier values back.
        """
        found = self._signals.copy()
        self._signals.clear()
        now = _values()
        for title, before in self._before.items():
            if now[title] != before and title not in ignored:
                found.append(f'{title}{_difference(before, now[title])}')
        printed = (self._out.text + self._err.text).strip()
        if printed:
            line = printed.splitlines()[0]
            found.append(f'the driver printed {_short(line)}')
        self._out.text = self._err.text = ''
        _put_back(self._before)
        return next(iter(found), '')

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Listen to what the driver prints, and to its handlers of signals."""
        true = signal.signal
        null = logging.NullHandler()  # or Python prints warnings by itself

        def told(number: int, handler: Any) -> Any:
            if not watch.is_driver():
                return true(number, handler)
            name = signal.Signals(number).name
            self._signals.append(f'the handler of {name} is {_short(handler)}')
            return signal.getsignal(number)

        streams, shown = (sys.stdout, sys.stderr), warnings.showwarning
        sys.stdout, sys.stderr = self._out, self._err
        warnings.showwarning = _not_shown  # Python prints them, no driver
        logging.root.addHandler(null)
        setattr(signal, 'signal', told)  # noqa: B010 (other type)
        self._before = _values()
        try:
            yield
        finally:
            _put_back(self._before)
            setattr(signal, 'signal', true)  # noqa: B010
            logging.root.removeHandler(null)
            sys.stdout, sys.stderr = streams
            warnings.showwarning = shown


def _not_shown(*_warning: object, **_how: object) -> None:
    """Print no warning."""


class _Heard(io.TextIOBase):
    """A standard stream that keeps what the driver writes."""

    def __init__(self, true: Any) -> None:
        self._true = true
        self.text = ''

    def write(self, text: str) -> int:
        """Keep the text of the driver; pass on that of others."""
        if watch.is_driver():
            self.text += text
        else:
            self._true.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._true, name)


def _difference(before: Any, now: Any) -> str:
    """Return words about a changed value, to follow its title."""
    if isinstance(before, Mapping):
        names = sorted(
            name
            for name in before.keys() | now.keys()
            if before.get(name) != now.get(name)
        )
        return f' has another {", ".join(names)[:_SHOWN]}'
    if isinstance(before, list):
        new = [one for one in now if one not in before]
        gone = [one for one in before if one not in now]
        return (
            f' have {_short(new[0])}'
            if new
            else (
                f' lack {_short(gone[0])}' if gone else ' have another order'
            )
        )
    return f' was {_short(before)} and is {_short(now)}'


def import_change(module: str) -> str:
    """Return what the import of a module changes, in another process.

    Empty if it changes nothing, or cannot be imported there by its name.
    """
    done = subprocess.run(  # noqa: S603 (this Python, this module)
        [sys.executable, '-m', __name__, module],
        env={
            **_first_environment(),
            'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return done.stdout.strip() if not done.returncode else ''


def _first_environment() -> Mapping[str, str]:
    """Return the environment with which this process began.

    The driver is imported here already, and may have changed it.
    """
    try:
        said = pathlib.Path('/proc/self/environ').read_bytes()
    except OSError:
        return os.environ
    rows = [os.fsdecode(one).partition('=') for one in said.split(b'\0')]
    return {name: value for name, _, value in rows if name}


def main(module: str) -> None:
    """Print what the import of a module changes."""
    importlib.import_module('compute_agent.virt.driver')
    guest = Guest()
    with guest.watched():
        importlib.import_module(module)
        found = guest.change(_OF_IMPORTS)
    sys.stdout.write(found)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'


if __name__ == '__main__':
    main(sys.argv[1])
