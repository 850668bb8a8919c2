# SPDX-License-Identifier: Apache-2.0
"""Ending a long-running command: signals become an event.

A hang-up ends it too: there is nothing to reload, and a daemon that outlives
its terminal is one nobody asked for.
"""

import signal
import threading
import types


def on_signals() -> threading.Event:
    """Return an event that SIGINT, SIGTERM and SIGHUP set."""
    stop = threading.Event()

    def ask(_number: int, _frame: types.FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)
    return stop
