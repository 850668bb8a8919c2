# SPDX-License-Identifier: Apache-2.0
"""Hears the kernel's events of devices, through pyudev.

It does I/O: a thread waits at a socket of the kernel. Where that is not
possible (no libudev, a container without the host's network), no event is
heard, and facts are read anew each time. Virtual devices do not count: the
interfaces of guests come and go all the time.
"""

import logging
import threading
import typing
from collections.abc import Callable

LOG = logging.getLogger(__name__)

_VIRTUAL = '/devices/virtual/'
_BUFFER = 8 * 2**20  # bytes; a card with many functions sends them at once
_PAUSE = 0.5  # seconds between two looks at the request to stop


def kernel_monitor() -> typing.Any:
    """Return a socket with the kernel's events, as pyudev has it.

    :raises ImportError: there is no pyudev, or no libudev
    :raises OSError: the kernel refuses
    """
    import pyudev  # noqa: PLC0415 (loads libudev)

    return pyudev.Monitor.from_netlink(pyudev.Context(), source='kernel')


class DeviceEvents:
    """Counts the events of devices from ``start`` to ``close``."""

    def __init__(
        self, load: Callable[[], typing.Any] = kernel_monitor
    ) -> None:
        self._load = load
        self._number: int | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def count(self) -> int | None:
        """Return the number of events so far; None if they are not heard."""
        return self._number

    def start(self, wake: Callable[[], object]) -> None:
        """Listen, and call ``wake`` at each event."""
        try:
            monitor = self._load()
            monitor.start()
            self._make_room(monitor)
        except (ImportError, OSError) as exc:
            LOG.info(
                'events of devices are not heard (%s): each cycle reads all '
                'facts of devices',
                exc,
            )
            return
        self._number = 0
        self._thread = threading.Thread(
            target=self._listen,
            args=(monitor, wake),
            name='device-events',
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._number = None

    def _make_room(self, monitor: typing.Any) -> None:
        try:
            monitor.set_receive_buffer_size(_BUFFER)
        except OSError as exc:  # only root may exceed the kernel's limit
            LOG.debug('the buffer for events keeps its size: %s', exc)

    def _listen(self, monitor: typing.Any, wake: Callable[[], object]) -> None:
        while not self._stopping.is_set():
            try:
                event = monitor.poll(timeout=_PAUSE)
            except OSError as exc:
                # Events were lost, so the kept facts may be wrong.
                LOG.debug('events of devices were lost: %s', exc)
                self._note(wake)
                self._stopping.wait(_PAUSE)
                continue
            if event is not None and _VIRTUAL not in event.device_path:
                self._note(wake)

    def _note(self, wake: Callable[[], object]) -> None:
        self._number = (self._number or 0) + 1
        wake()
