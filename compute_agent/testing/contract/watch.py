# SPDX-License-Identifier: Apache-2.0
"""Watches the seams of a world: counts the calls, and makes some of them fail.

It replaces the attributes that the seams name and puts them back at the end. A
driver may call from several threads. The agent and its client of placement may
use what a seam names, such as ``requests.Session``: their calls pass unseen.
Everything is the driver's except what runs within ``agent_runs()``; there,
only what runs within ``driver_runs()`` is. While ``following_threads()`` is
on, a thread belongs to the thread that started it.
"""

import collections
import contextlib
import copy
import dataclasses
import difflib
import functools
import inspect
import threading
import typing
from collections.abc import Callable, Iterator, Sequence

from ... import error_text, errors
from ..values import alterations, bodies
from ..values import seam as seams
from ..values.seam import Fault, Seam

#: Returns the answer to a question, from the source's own.
Alter = Callable[[alterations.Key, typing.Any], typing.Any]

_HERE = threading.local()
_SHOWN = 80  # characters of the arguments of a call


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call through a seam.

    :ivar number: the first call since the counting began has 1
    """

    seam: Seam
    number: int
    arguments: str = dataclasses.field(default='', compare=False)

    def __str__(self) -> str:
        text = self.arguments
        shown = text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…'
        return f'{self.seam}({shown})'

    @property
    def key(self) -> alterations.Key:
        """The question: equal for calls with the same arguments."""
        return str(self.seam), self.arguments


@dataclasses.dataclass(slots=True, kw_only=True)
class Failure:
    """A fault in one call of a seam, or in all its calls.

    :ivar number: the number of the call; None for all calls
    :ivar variant: the number of the bad answer, if the fault has several
    :ivar hits: the calls that failed
    :ivar became: the place of the answer that was bad, and its value
    """

    seam: Seam
    fault: Fault
    number: int | None = None
    variant: int = 0
    hits: int = 0
    became: str = ''

    def __str__(self) -> str:
        if self.number is None:
            return f'every call of {self.seam} ends with {self.fault.value}'
        return f'{self.fault.value} of call {self.number} of {self.seam}'

    def concerns(self, call: Call) -> bool:
        """Return True if this call fails."""
        return call.seam is self.seam and self.number in {None, call.number}


class Watch:
    """The calls through some seams.

    :ivar calls: since ``clear``
    :ivar variants: the number of bad answers that the failed call could give
    :ivar opaque: seam and fault → the type of an answer that the suite could
        not spoil
    """

    def __init__(self, watched: Sequence[Seam]) -> None:
        self._seams = watched
        self._lock = threading.Lock()
        self._failure: Failure | None = None
        self._alter: Alter | None = None
        self._pause: Callable[[], object] | None = None
        self._numbers: collections.Counter[int] = collections.Counter()
        self.calls: list[Call] = []
        self.variants = 0
        self.opaque: dict[tuple[str, Fault], str] = {}

    @contextlib.contextmanager
    def installed(self) -> Iterator[typing.Self]:
        """Watch the seams until the end of the ``with``.

        :raises errors.ConfigError: a seam names no function that can be
            replaced
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(following_threads())
            for one in self._seams:
                self._install(one, stack)
            yield self

    def clear(self) -> None:
        """Forget the calls."""
        with self._lock:
            self.calls.clear()
            self._numbers.clear()

    @contextlib.contextmanager
    def failing(self, failure: Failure) -> Iterator[Failure]:
        """Let calls fail until the end of the ``with``; count from 1."""
        self.clear()
        self.variants = 0
        self._failure = failure
        try:
            yield failure
        finally:
            self._failure = None

    @contextlib.contextmanager
    def altering(self, alter: Alter) -> Iterator[None]:
        """Give other answers than the source, until the end of the with.

        :param alter: returns the answer to a question, from the source's own
        """
        before, self._alter = self._alter, alter
        try:
            yield
        finally:
            self._alter = before

    @contextlib.contextmanager
    def recording(self) -> Iterator[dict[alterations.Key, typing.Any]]:
        """Yield the last answers by question, as the driver is given them."""
        found: dict[alterations.Key, typing.Any] = {}

        def note(key: alterations.Key, answer: typing.Any) -> typing.Any:
            given = bodies.kept(answer)
            is_plain = isinstance(given, dict | list)
            found[key] = copy.deepcopy(given) if is_plain else given
            return given

        with self.altering(note):
            yield found

    @contextlib.contextmanager
    def pausing(self, pause: Callable[[], object]) -> Iterator[None]:
        """Call a function inside of each call, until the end of the with."""
        self._pause = pause
        try:
            yield
        finally:
            self._pause = None

    # --- the replaced functions -----------------------------------------------

    def _install(self, one: Seam, stack: contextlib.ExitStack) -> None:
        original, restore = _function(one)
        replacement: object = self._around(one, original)
        if isinstance(
            inspect.getattr_static(one.owner, one.attribute),
            classmethod | staticmethod,
        ):
            replacement = staticmethod(typing.cast(typing.Any, replacement))
        try:
            setattr(one.owner, one.attribute, replacement)
        except (AttributeError, TypeError) as exc:
            raise errors.ConfigError(
                f'seam {one}: {_called(one.owner)} does not let the suite '
                f'replace {one.attribute}: name its class as the owner'
            ) from exc
        stack.callback(restore)

    def _around(
        self, one: Seam, original: Callable[..., object]
    ) -> Callable[..., object]:
        @functools.wraps(original)
        def call(*args: object, **kwargs: object) -> object:
            if not is_driver():
                return original(*args, **kwargs)
            made = self._note(one, args, kwargs)
            if self._pause is not None:
                self._pause()
            failure = self._failure
            if failure is not None and failure.concerns(made):
                return self._fail(failure, lambda: original(*args, **kwargs))
            answer = original(*args, **kwargs)
            alter = self._alter
            if alter is None or one.is_derived:
                return answer
            return alter(made.key, answer)

        return call

    def _note(
        self, one: Seam, args: Sequence[object], kwargs: dict[str, object]
    ) -> Call:
        own = args[1:] if isinstance(one.owner, type) else args
        given = [repr(a) for a in own]
        given += [f'{k}={v!r}' for k, v in kwargs.items()]
        text = error_text.printable(', '.join(given))
        with self._lock:
            self._numbers[id(one)] += 1
            made = Call(
                seam=one, number=self._numbers[id(one)], arguments=text
            )
            self.calls.append(made)
        return made

    def _fail(self, failure: Failure, ask: Callable[[], object]) -> object:
        if failure.fault in seams.RAISING:
            failure.hits += 1
            raise failure.seam.exception(failure.fault)
        true = bodies.kept(ask())
        bad = failure.seam.answers(failure.fault, true)
        self.variants = max(self.variants, len(bad))
        if not bad and seams.is_opaque(true):
            self.opaque[str(failure.seam), failure.fault] = type(true).__name__
        if failure.variant >= len(bad):
            return true
        failure.hits += 1
        failure.became = alterations.became(true, bad[failure.variant])
        return bad[failure.variant]


def _function(
    one: Seam,
) -> tuple[Callable[..., object], Callable[[], object]]:
    """Return the function that a seam names, and what puts it back.

    :raises errors.ConfigError: the seam names no function
    """
    missing = object()
    original = getattr(one.owner, one.attribute, missing)
    if not callable(original):
        near = difflib.get_close_matches(one.attribute, dir(one.owner), n=1)
        raise errors.ConfigError(
            f'seam {one}: {_called(one.owner)} has no function '
            f'{one.attribute}: a seam names a function or a method'
            + (f'; did you mean {near[0]!r}?' if near else '')
        )
    own = getattr(one.owner, '__dict__', {}).get(one.attribute, missing)
    if own is missing:
        return original, functools.partial(delattr, one.owner, one.attribute)
    return original, functools.partial(setattr, one.owner, one.attribute, own)


def _called(owner: object) -> str:
    return getattr(owner, '__name__', None) or type(owner).__name__


# --- the owner of a call
# ---------------------------------------------------------


def is_driver() -> bool:
    """Return True if this thread runs code of the driver now."""
    return getattr(_HERE, 'is_driver', True)


def agent_runs() -> contextlib.AbstractContextManager[None]:
    """Return a context in which this thread runs code of the agent."""
    return _running(is_driver=False)


def driver_runs() -> contextlib.AbstractContextManager[None]:
    """Return a context in which this thread runs code of the driver."""
    return _running(is_driver=True)


@contextlib.contextmanager
def following_threads() -> Iterator[None]:
    """Have each thread belong to the thread that starts it, while this is on.

    Python itself does not tell which thread started another.
    """
    original = threading.Thread.start

    @functools.wraps(original)
    def start(thread: threading.Thread) -> None:
        thread.run = functools.partial(  # type: ignore[method-assign]
            _run, thread, thread.run, is_drivers=is_driver()
        )
        original(thread)

    setattr(threading.Thread, 'start', start)  # noqa: B010 (other type)
    try:
        yield
    finally:
        setattr(threading.Thread, 'start', original)  # noqa: B010


def _run(
    thread: threading.Thread, run: Callable[[], None], *, is_drivers: bool
) -> None:
    """Run a new thread as belonging to the thread that started it."""
    del thread.run  # the method of the class shows again
    with _running(is_driver=is_drivers):
        run()


@contextlib.contextmanager
def _running(*, is_driver: bool) -> Iterator[None]:
    before = getattr(_HERE, 'is_driver', True)
    _HERE.is_driver = is_driver
    try:
        yield
    finally:
        _HERE.is_driver = before
