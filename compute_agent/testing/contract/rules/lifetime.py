# SPDX-License-Identifier: Apache-2.0
"""The rules about threads and events: a driver ends when it is closed."""

import threading
import time
from collections.abc import Collection

from .. import describing, making
from ..rule import Broken, NotTried
from ..trial import Trial

_SECONDS = 10.0  # to wait for an event, or for a thread to end
_PAUSE = 0.01


def close_ends_threads(trial: Trial) -> None:
    """Check that no thread of the driver outlives close()."""
    before = set(threading.enumerate())
    driver = making.make(trial.named, trial.world, trial.folder)
    try:
        for node in driver.get_available_nodes():
            describing.describe(trial, driver, node)
        driver.subscribe(lambda: None)
    finally:
        driver.close()
    left = _after(before)
    if left:
        raise Broken(
            'close()',
            f'the thread {min(t.name for t in left)} still runs',
            'end and join every thread of the driver in close()',
        )
    making.make(trial.named, trial.world, trial.folder).close()


def events_wake(trial: Trial) -> None:
    """Check that an event calls ``wake``, and none does after close()."""
    event = trial.world.event
    if event is None:
        raise NotTried('World.event is not given')
    driver = making.make(trial.named, trial.world, trial.folder)
    woken = threading.Event()
    try:
        for node in driver.get_available_nodes():
            describing.describe(trial, driver, node)
        driver.subscribe(woken.set)
        event()
        _check_woken(woken)
    finally:
        driver.close()
    woken.clear()
    event()
    if woken.wait(_PAUSE * 10):
        raise Broken(
            'close()',
            'wake was called after it',
            'stop listening in close(), and return when the last call ended',
        )


def _check_woken(woken: threading.Event) -> None:
    if not woken.wait(_SECONDS):
        raise Broken(
            'subscribe(wake)',
            f'wake was not called within {_SECONDS:g} s of an event',
            'call wake for each event that may change a description',
        )


def _after(before: Collection[threading.Thread]) -> set[threading.Thread]:
    """Return the threads that are new and do not end by themselves soon."""
    end = time.monotonic() + _SECONDS
    while True:
        left = {t for t in threading.enumerate() if t not in before}
        if not left or time.monotonic() > end:
            return left
        time.sleep(_PAUSE)
