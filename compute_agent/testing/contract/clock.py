# SPDX-License-Identifier: Apache-2.0
"""A clock that the suite moves, for the driver only.

It replaces the functions of ``time`` and the classes of ``datetime`` that tell
the time, also where a module of the driver's package imported one by its name.
The agent and the rest of the process keep the true time.
"""

import contextlib
import datetime as dt
import functools
import sys
import time
import types
import typing
from collections.abc import Callable, Iterator

from . import watch

_SECONDS = ('time', 'monotonic', 'perf_counter')
_NANOSECONDS = ('time_ns', 'monotonic_ns', 'perf_counter_ns')
_CALENDARS = ('localtime', 'gmtime', 'ctime')
_BILLION = 1_000_000_000


class Clock:
    """The time that a driver is told.

    :ivar offset: seconds after the true time of day
    :ivar passed: seconds after the true time of clocks that only run on
    """

    def __init__(self) -> None:
        self.offset = 0.0
        self.passed = 0.0

    def move(self, seconds: float) -> None:
        """Move the time of day; clocks that only run on move forward only."""
        self.offset += seconds
        self.passed += max(seconds, 0.0)

    @contextlib.contextmanager
    def installed(self, package: str) -> Iterator[typing.Self]:
        """Tell the driver this time until the end of the ``with``.

        :param package: the top-level package of the driver
        """
        found = dict(self._replacements())
        with contextlib.ExitStack() as stack:
            for module in (time, dt, *modules(package)):
                for name, value in list(vars(module).items()):
                    if _is_hashable(value) and value in found:
                        stack.callback(setattr, module, name, value)
                        setattr(module, name, found[value])
            yield self

    def _of(self, name: str) -> float:
        return self.offset if name.startswith('time') else self.passed

    def _replacements(self) -> Iterator[tuple[object, object]]:
        """Yield each function or class that tells the time, and another."""
        for name in (*_SECONDS, *_NANOSECONDS):
            true = getattr(time, name)
            unit = _BILLION if name in _NANOSECONDS else 1
            yield (
                true,
                self._moved(true, functools.partial(self._of, name), unit),
            )
        for name in _CALENDARS:
            true = getattr(time, name)
            yield true, self._calendar(true)
        yield dt.datetime, _datetime(self)
        yield dt.date, _date(self)

    def _moved(
        self,
        true: Callable[[], typing.Any],
        offset: Callable[[], float],
        unit: int,
    ) -> Callable[[], typing.Any]:
        @functools.wraps(true)
        def told() -> typing.Any:
            now = true()
            if not watch.is_driver():
                return now
            return now + type(now)(offset() * unit)

        return told

    def _calendar(
        self, true: Callable[..., typing.Any]
    ) -> Callable[..., typing.Any]:
        clock = time.time

        @functools.wraps(true)
        def told(*seconds: float | None) -> typing.Any:
            if watch.is_driver() and (not seconds or seconds[0] is None):
                return true(clock() + self.offset)
            return true(*seconds)

        return told


def _is_hashable(value: object) -> bool:
    return isinstance(
        value, types.BuiltinFunctionType | types.FunctionType | type
    )


def modules(package: str) -> list[types.ModuleType]:
    """Return the loaded modules of a package."""
    return [
        module
        for name, module in list(sys.modules.items())
        if module is not None and name.partition('.')[0] == package
    ]


class _AsTrue(type):
    """The type of a class whose instances are those of its base class."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cls.__mro__[1])

    def __subclasscheck__(cls, one: type) -> bool:
        return issubclass(one, cls.__mro__[1])


def _datetime(clock: Clock) -> type:
    true = dt.datetime

    class datetime(true, metaclass=_AsTrue):  # type: ignore[valid-type, misc] # noqa: N801
        def __new__(cls, *args: typing.Any, **how: typing.Any) -> typing.Any:
            return true.__new__(true, *args, **how)

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> typing.Any:
            told = true.now(tz)
            if not watch.is_driver():
                return told
            return told + dt.timedelta(seconds=clock.offset)

        @classmethod
        def utcnow(cls) -> typing.Any:
            return cls.now(dt.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> typing.Any:
            return cls.now()

    return datetime


def _date(clock: Clock) -> type:
    true = dt.date
    true_datetime = dt.datetime

    class date(true, metaclass=_AsTrue):  # type: ignore[valid-type, misc] # noqa: N801
        def __new__(cls, *args: typing.Any, **how: typing.Any) -> typing.Any:
            return true.__new__(true, *args, **how)

        @classmethod
        def today(cls) -> typing.Any:
            told = true_datetime.now()
            if watch.is_driver():
                told += dt.timedelta(seconds=clock.offset)
            return told.date()

    return date
