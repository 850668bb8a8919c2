# SPDX-License-Identifier: Apache-2.0
"""Counts of function calls, for tests of how a cost grows.

A count is the same on every machine and at every load; a time is not. Nothing
is collected meanwhile: what other tests left behind may call functions then.
"""

import gc
import sys
import types
import typing
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called while this is done."""
    return _counted(work, lambda _: True, {'call', 'c_call'})


def calls_of(
    function: Callable[..., object], work: Callable[[], object]
) -> int:
    """Return how often a function written in Python is called meanwhile."""
    code = function.__code__
    return _counted(work, lambda frame: frame.f_code is code, {'call'})


def _counted(
    work: Callable[[], object],
    counts: Callable[[types.FrameType], bool],
    events: set[str],
) -> int:
    count = 0

    def note(frame: types.FrameType, event: str, _: typing.Any) -> None:
        nonlocal count
        count += event in events and counts(frame)

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return count
