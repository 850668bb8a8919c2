# SPDX-License-Identifier: Apache-2.0
"""A seam: a call of the driver's on the world outside, and its bad answers.

The suite replaces the attribute while it checks a rule. It then knows how
often the driver asks, and can give any answer a bad form. Which forms an
answer has depends on its value: only a list has a half.
"""

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import errors

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


def _timed_out() -> Exception:
    return TimeoutError('timed out')


def _reset() -> Exception:
    return ConnectionResetError('connection reset by peer')


@dataclasses.dataclass(frozen=True, slots=True)
class Seam:
    """One call of the driver's on the world outside.

    :ivar name: the name of the source, for messages and the report
    :ivar owner: the object, class or module that has the function
    :ivar attribute: the name of the function
    :ivar half: returns the half of a true answer; by default, of its lists
    :ivar garbage: returns garbage in place of a true answer
    :ivar timeout: makes the exception of a call that takes too long
    :ivar error: makes the exception of a call that fails
    :ivar silent: fault → why this source cannot tell it from the truth; the
        report has the reason; a call that raises is never silent
    :ivar is_remote: False for a file of the host, which may be read while the
        driver is made
    :ivar most: the calls of one cycle that are made to fail, spread over all
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
        """Return the bad answers that a fault makes of a true one."""
        if fault is Fault.HALF:
            found = [self.half(true)] if self.half else _halves(true)
        elif fault is Fault.EMPTY:
            found = _empty(true)
        else:
            found = [self.garbage(true)] if self.garbage else _garbage(true)
        return [bad for bad in found if bad != true]


def reordered(answer: Any) -> Any:
    """Return an answer whose mappings and sets have another order."""
    match answer:
        case dict():
            pairs = [(k, reordered(v)) for k, v in answer.items()]
            return type(answer)(reversed(pairs))
        case list() | tuple() if type(answer) in {list, tuple}:
            return type(answer)(reordered(one) for one in answer)
        case set() | frozenset():
            return type(answer)(reversed(list(answer)))
        case _:
            return answer


def _halves(true: Any) -> list[object]:
    """Return the answer with half of its lists, or half of itself."""
    match true:
        case str() | bytes() | list() | tuple() if type(true) in _PLAIN:
            return [true[: len(true) // 2]] if len(true) > 1 else []
        case dict():
            inner = _each_list(true, lambda one: one[: len(one) // 2])
            if inner != true:
                return [inner]
            most = len(true) // 2
            return [type(true)(list(true.items())[:most])] if most else []
        case set() | frozenset():
            most = len(true) // 2
            return [type(true)(sorted(true, key=repr)[:most])] if most else []
        case _:
            return []


def _empty(true: Any) -> list[object]:
    """Return the empty answers: of its type, and with empty lists in it."""
    if isinstance(true, dict):
        return [type(true)(), _each_list(true, lambda _one: [])]
    return [type(true)()] if type(true) in _PLAIN else []


def _garbage(true: Any) -> list[object]:
    """Return answers that make no sense, most of them of the same type."""
    if true is None or isinstance(true, bool):
        return []
    if isinstance(true, int | float):
        return [-1]
    if isinstance(true, bytes):
        return [_GARBAGE.encode()]
    if isinstance(true, dict):
        inner = _each_list(true, lambda one: [_GARBAGE] * len(one))
        return [{_GARBAGE: None}, dict.fromkeys(true, _GARBAGE), inner, None]
    if isinstance(true, list | tuple | set | frozenset):
        kind = type(true) if type(true) in _PLAIN else list
        return [kind([_GARBAGE]), kind([None]), None]
    return [_GARBAGE]


def _each_list(answer: Any, change: Callable[[list[Any]], object]) -> Any:
    """Return an answer with each list inside of its mappings changed."""
    match answer:
        case dict():
            return type(answer)(
                (k, _each_list(v, change)) for k, v in answer.items()
            )
        case list():
            return change(answer)
        case _:
            return answer


_PLAIN = frozenset({str, bytes, list, tuple, set, frozenset})
