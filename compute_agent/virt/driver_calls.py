# SPDX-License-Identifier: Apache-2.0
"""The time that drivers take for the calls of a cycle.

The agent's cycle times its calls of drivers here; the daemon's metrics watch
``CALLS``.
"""

import time
import typing

from ..watchers import Watchers


class Call(typing.NamedTuple):
    """A call of a driver that returned or failed.

    A named tuple is made faster than a dataclass, and each node makes one in
    each cycle.

    :ivar driver: the driver's name in ``compute_driver``
    :ivar call: ``nodes``, ``changes``, ``facts`` or ``describe``
    """

    driver: str
    call: str
    seconds: float


CALLS: Watchers[Call] = Watchers()


class _Timed:
    """The context of the calls that are timed.

    It is no generator, because each node has several in each cycle.
    """

    __slots__ = ('_began', '_call', '_driver')

    def __init__(self, driver: str, call: str) -> None:
        self._driver = driver
        self._call = call
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *_exc_info: object) -> None:
        seconds = time.monotonic() - self._began
        CALLS.tell(Call(driver=self._driver, call=self._call, seconds=seconds))


def timed(driver: str, call: str) -> _Timed:
    """Tell ``CALLS`` how long the calls inside this context take."""
    return _Timed(driver, call)
