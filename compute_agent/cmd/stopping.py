# SPDX-License-Identifier: Apache-2.0
"""Ending a long-running command: signals become an event."""

import signal
import threading
import types


def on_signals() -> threading.Event:
    """Return an event that SIGINT and SIGTERM set; they end nothing else."""
    stop = threading.Event()

    def ask(_number: int, _frame: types.FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return stop
