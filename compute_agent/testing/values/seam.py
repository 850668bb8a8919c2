# SPDX-License-Identifier: Apache-2.0
"""A seam, through which the driver asks the outside world, and bad answers.

The suite replaces the attribute while it checks a rule. It then knows how
often the driver asks, and can give any answer a bad form. Which forms an
answer has depends on its value: only a list has a half.
"""

import copy
import dataclasses
import enum
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import errors
from . import bodies

Maker = Callable[[Any], object]


class Fault(enum.Enum):
    """The ways in which a call on the outside world fails."""

    TIMEOUT = 'a time-out'
    EXCEPTION = 'an exception'
    HALF = 'half of the answer'
    EMPTY = 'an empty answer'
    GARBAGE = 'garbage'


#: The faults for which the call raises.
RAISING = (Fault.TIMEOUT, Fault.EXCEPTION)
_GARBAGE = '\x00garbage<\ufffd'
_CONTAINERS = (dict, list, tuple, set, frozenset)
_PLACES = 8  # containers of an answer that become bad, and other values of it
_MISSING = object()  # the value of a key that an answer lacks
_EACH = object()  # any place in a list

# The keys and places that lead from an answer to a value inside of it.
_Path = tuple[Any, ...]


def _timed_out() -> Exception:
    return TimeoutError('timed out')


def _reset() -> Exception:
    return ConnectionResetError('connection reset by peer')


@dataclasses.dataclass(frozen=True, slots=True)
class Seam:
    """A function through which the driver asks the world outside.

    :ivar name: the name of the source, for messages and the report
    :ivar owner: the object, class or module that has the function
    :ivar attribute: the name of the function
    :ivar half: returns the half of a true answer; by default, of each list and
        mapping in it, one at a time
    :ivar garbage: returns garbage in place of a true answer
    :ivar timeout: makes the exception of a call that takes too long
    :ivar error: makes the exception of a call that fails
    :ivar silent: fault → why this source cannot tell it from the truth; the
        report has the reason; a call that raises is never silent
    :ivar is_remote: False for a file of the host, which may be read while the
        driver is made
    :ivar most: how many calls of one cycle are made to fail, spread over all
        its calls
    :ivar is_derived: True for answers that are made from those of other
        sources: they fail, but no value of them alone becomes another one
    """

    name: str
    owner: object
    attribute: str
    half: Maker | None = None
    garbage: Maker | None = None
    timeout: Callable[[], BaseException] = _timed_out
    error: Callable[[], BaseException] = _reset
    silent: Mapping[Fault, str] = dataclasses.field(default_factory=dict)
    is_remote: bool = True
    most: int = 20
    is_derived: bool = False

    def __post_init__(self) -> None:
        raising = next((f for f in RAISING if f in self.silent), None)
        if raising is not None:
            raise errors.ConfigError(
                f'seam {self}: silent has {raising.name}, but a call that '
                'raises is no answer, so every driver can tell it: leave it '
                'out of silent'
            )
        if self.most < 1:
            raise errors.ConfigError(
                f'seam {self}: most is {self.most}, so that no call would be '
                'tried: give 1 or more'
            )

    def __str__(self) -> str:
        return f'{self.name}.{self.attribute}'

    def exception(self, fault: Fault) -> BaseException:
        """Return the exception of a fault for which the call raises."""
        return self.timeout() if fault is Fault.TIMEOUT else self.error()

    def answers(self, fault: Fault, true: object) -> Sequence[object]:
        """Return the bad answers that a fault makes of a true one.

        :param true: as ``bodies.kept`` returned it
        """
        own = {Fault.HALF: self.half, Fault.GARBAGE: self.garbage}.get(fault)
        if own is not None:
            found = [own(true)]
        elif bodies.is_response(true):
            found = _of_response(true, fault)
        elif _is_record(true):
            found = _of_record(true, fault)
        else:
            found = _bad(fault, true)
        return [bad for bad in found if bad != true]


def is_opaque(true: object) -> bool:
    """Return True for an answer that the suite cannot spoil."""
    known = (str, bytes, int, float, *_CONTAINERS)
    return not (
        true is None
        or isinstance(true, known)
        or bodies.is_response(true)
        or _is_record(true)
    )


def reordered(answer: Any) -> Any:
    """Return an answer whose mappings and sets have another order."""
    match answer:
        case dict():
            pairs = [(k, reordered(v)) for k, v in answer.items()]
            return _like(answer, dict(reversed(pairs)))
        case list() | tuple() if type(answer) in {list, tuple}:
            return type(answer)(reordered(one) for one in answer)
        case set() | frozenset():
            return type(answer)(reversed(list(answer)))
        case _:
            return answer


def permuted(answer: Any) -> Any:
    """Return an answer whose lists have another order.

    The order of mappings, texts and other things that have a name each seldom
    means something. That of numbers and of lists often does, as in a range: it
    stays.
    """
    if isinstance(answer, dict):
        return _like(answer, {k: permuted(v) for k, v in answer.items()})
    if type(answer) is not list:
        return answer
    items = [permuted(one) for one in answer]
    are_named = all(isinstance(one, dict | str) for one in items)
    return items[::-1] if are_named else items


def _halves(true: Any) -> list[object]:
    """Return answers with a missing part: half of a list, or a key."""
    if isinstance(true, str | bytes):
        return [true[: len(true) // 2]] if len(true) > 1 else []
    found: list[object] = []
    for path, value in _places(true):
        if isinstance(value, _CONTAINERS) and len(value) > 1:
            found.append(_changed(true, path, _half(value)))
        if path and isinstance(_at(true, path[:-1]), dict):
            found.append(_changed(true, path, _MISSING))
    return found


def _bad(fault: Fault, true: Any) -> list[object]:
    """Return the bad values that a fault makes of a true one."""
    if fault is Fault.HALF:
        return _halves(true)
    return _empty(true) if fault is Fault.EMPTY else _garbage(true)


def _of_response(true: Any, fault: Fault) -> list[object]:
    """Return responses with a bad text, or with a bad value in their text."""
    texts: list[Any] = _bad(fault, bodies.text(true))
    found = [bodies.with_text(true, one) for one in texts]
    value, closed = bodies.opened(true)
    if isinstance(value, _CONTAINERS):
        found += map(closed, _bad(fault, value))
    return found


def _is_record(true: object) -> bool:
    return dataclasses.is_dataclass(true) and not isinstance(true, type)


def _of_record(true: Any, fault: Fault) -> list[object]:
    """Return records with one bad field, whose type is right."""
    found: list[object] = []
    for field in dataclasses.fields(true):
        was = getattr(true, field.name)
        if field.init and not (
            fault is Fault.GARBAGE and isinstance(was, _CONTAINERS)
        ):
            found += [
                dataclasses.replace(true, **{field.name: one})
                for one in _bad(fault, was)
                if type(one) is type(was)
            ]
    return found


def _half(value: Any) -> object:
    most = len(value) // 2
    if isinstance(value, dict):
        return _like(value, list(value.items())[:most])
    if isinstance(value, list | tuple):
        return _like(value, value[:most])
    return _like(value, sorted(value, key=repr)[:most])


def _empty(true: Any) -> list[object]:
    """Return the empty answers: of its type, and with one empty container."""
    if isinstance(true, str | bytes):
        return [type(true)()]
    return [
        _changed(true, path, _like(value, ()))
        for path, value in _places(true)
        if isinstance(value, _CONTAINERS)
    ]


def _garbage(true: Any) -> list[object]:
    """Return answers that make no sense, most of them of the same type."""
    if true is None or isinstance(true, bool):
        return []
    if isinstance(true, int | float):
        return [-1]
    if isinstance(true, bytes):
        return [_GARBAGE.encode()]
    if isinstance(true, str):
        return [_GARBAGE]
    if not isinstance(true, _CONTAINERS):
        return []  # only the author knows what the client can return
    return [
        _changed(true, path, bad)
        for path, value in _places(true)
        for bad in _wrong(value)
    ]


def _wrong(value: Any) -> list[object]:
    """Return values that a place in an answer never has."""
    if isinstance(value, dict):
        return [None, dict.fromkeys(value or [_GARBAGE], _GARBAGE)]
    if isinstance(value, _CONTAINERS):
        # Another text in place of a text may be true.
        is_text = any(isinstance(one, str) for one in value)
        bad = None if is_text else _GARBAGE
        return [None, _like(value, [bad] * max(len(value), 1))]
    # Many sources give None for a missing name or state.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [None, [_GARBAGE]] if is_number else [[_GARBAGE]]


# --- the places inside of an answer -------------------------------------------


def _places(true: Any) -> list[tuple[_Path, Any]]:
    """Return the paths of values inside of an answer, the outer ones first.

    The items of a list are of one kind: of paths that differ only in the
    places in lists, the result has the first. There are at most so many
    containers and so many other values.
    """
    of_kind: dict[_Path, tuple[_Path, Any]] = {}
    _walk(true, (), (), of_kind)
    found = sorted(of_kind.values(), key=lambda one: len(one[0]))
    containers = [one for one in found if isinstance(one[1], _CONTAINERS)]
    others = [one for one in found if not isinstance(one[1], _CONTAINERS)]
    return containers[:_PLACES] + others[:_PLACES]


def _walk(
    value: Any,
    path: _Path,
    kind: _Path,
    found: dict[_Path, tuple[_Path, Any]],
) -> None:
    found.setdefault(kind, (path, value))
    if isinstance(value, dict):
        for key, inner in value.items():
            _walk(inner, (*path, key), (*kind, key), found)
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            _walk(inner, (*path, at), (*kind, _EACH), found)


def _at(answer: Any, path: _Path) -> Any:
    return functools.reduce(operator.getitem, path, answer)


def _changed(answer: Any, path: _Path, value: object) -> Any:
    """Return an answer with another value, or no value, in one place."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(answer, dict):
        changed = copy.copy(answer)
        if value is _MISSING and not rest:
            del changed[key]
        else:
            changed[key] = _changed(answer[key], rest, value)
        return changed
    items = list(answer)
    items[key] = _changed(items[key], rest, value)
    return _like(answer, items)


def _like(value: Any, items: Any) -> Any:
    """Return a container of the same type, or of its plain type."""
    plain = next(kind for kind in _CONTAINERS if isinstance(value, kind))
    if isinstance(value, dict) and type(value) is not dict:
        changed = copy.copy(value)
        changed.clear()
        changed.update(items)
        return changed
    return plain(items)
