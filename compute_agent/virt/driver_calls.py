# SPDX-License-Identifier: Apache-2.0
"""The time that drivers take for the calls of a cycle.

The agent's cycle times its calls of drivers here; the daemon's metrics watch
``CALLS``.
"""

import contextlib
import dataclasses
import time
from collections.abc import Iterator

from ..watchers import Watchers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a driver that returned or failed.

    :ivar driver: the driver's name in ``compute_driver``
    :ivar call: ``nodes``, ``changes``, ``facts`` or ``describe``
    """

    driver: str
    call: str
    seconds: float


CALLS: Watchers[Call] = Watchers()


@contextlib.contextmanager
def timed(driver: str, call: str) -> Iterator[None]:
    """Tell ``CALLS`` how long the calls inside this context take."""
    began = time.monotonic()
    try:
        yield
    finally:
        seconds = time.monotonic() - began
        CALLS.tell(Call(driver=driver, call=call, seconds=seconds))
