# SPDX-License-Identifier: Apache-2.0
"""Hears libvirt's events, in a thread and over a connection of its own.

An event is a hint that the host changed; the cycle that follows reads what
changed. So a lost event costs time and nothing else. The thread opens the
connection again when libvirtd is back. It does I/O; ``connection.py``
starts it.
"""

import contextlib
import functools
import logging
import re
import threading
import typing
from collections.abc import Callable, Iterator

from ..libvirtd import hypervisor

LOG = logging.getLogger(__name__)

KEEP_ALIVE = 5, 3  # seconds between two pings, and the pings that may be lost
FIRST_RETRY = 1.0  # seconds until a connection is opened again; doubles
LAST_RETRY = 60.0  # seconds
GRACE = 1.0  # seconds that the thread gets to end

# Devices that come and go with guests and their volumes, and decide nothing:
# disks, and the network interfaces that nova and libvirt make for guests.
_OF_GUESTS = re.compile(
    r'block_|scsi_(generic|target|\d)|net_(vnet|tap|macvtap|qbr|qvb|qvo)'
)

# A process has one event loop of libvirt's, and one thread may run it.
_LOOP = threading.Lock()

Wake = Callable[[], object]


class Events:
    """Calls ``wake`` when the host may have changed.

    The host may have changed when a node device is created, changed or
    deleted, when libvirtd ends or is back, and, while ``awaits_guests`` is
    true, when a guest starts or stops.

    :param uri: libvirt's name of the hypervisor, for example qemu:///system
    :param load: returns libvirt-python
    """

    def __init__(self, uri: str, load: Callable[[], typing.Any]) -> None:
        self._uri = uri
        self._load = load
        self._awaits_guests: Callable[[], bool] = lambda: False
        self._stopping = threading.Event()
        self._interrupt: Callable[[], object] = lambda: None
        self._thread: threading.Thread | None = None

    def start(self, wake: Wake, awaits_guests: Callable[[], bool]) -> None:
        """Begin to hear events; without libvirt-python, none come.

        :param awaits_guests: returns True while the start and stop of guests
            change a description
        """
        self._awaits_guests = awaits_guests
        try:
            binding = self._load()
        except hypervisor.Unanswered as exc:
            LOG.debug('no events: %s', exc)
            return
        _register_loop(binding)
        timer = binding.virEventAddTimeout(-1, lambda *_: None, None)
        self._interrupt = functools.partial(
            binding.virEventUpdateTimeout, timer, 0
        )
        # A daemon thread, because opening a connection may hang.
        self._thread = threading.Thread(
            target=self._run,
            args=(binding, wake, timer),
            name='libvirt-events',
            daemon=True,
        )
        self._thread.start()

    def stop(self) -> None:
        """End the thread; it calls ``wake`` no more."""
        self._stopping.set()
        self._interrupt()
        if self._thread is not None:
            self._thread.join(GRACE)
            self._thread = None

    def _run(self, binding: typing.Any, wake: Wake, timer: int) -> None:
        def tell() -> None:
            if not self._stopping.is_set():
                wake()

        with _LOOP:
            self._hear_until_stopped(binding, tell)
            self._interrupt = lambda: None
            binding.virEventRemoveTimeout(timer)

    def _hear_until_stopped(self, binding: typing.Any, tell: Wake) -> None:
        wait, is_first = FIRST_RETRY, True
        while not self._stopping.is_set():
            try:
                with self._connected(binding, tell) as ended:
                    if not is_first:
                        tell()
                    wait = FIRST_RETRY
                    while not (self._stopping.is_set() or ended.is_set()):
                        binding.virEventRunDefaultImpl()
                tell()
            except binding.libvirtError as exc:
                LOG.debug('no events of libvirt at %s: %s', self._uri, exc)
            is_first = False
            self._stopping.wait(wait)
            wait = min(2 * wait, LAST_RETRY)

    @contextlib.contextmanager
    def _connected(
        self, binding: typing.Any, tell: Wake
    ) -> Iterator[threading.Event]:
        """Yield an event that is set when the connection ends."""
        ended = threading.Event()
        opened = binding.openReadOnly(self._uri)
        with contextlib.ExitStack() as undo:
            undo.enter_context(contextlib.suppress(binding.libvirtError))
            undo.callback(opened.close)
            self._register(binding, opened, tell, undo)
            # A test driver without a daemon has neither of these two.
            with contextlib.suppress(binding.libvirtError):
                opened.registerCloseCallback(lambda *_: ended.set(), None)
                undo.callback(opened.unregisterCloseCallback)
            with contextlib.suppress(binding.libvirtError):
                opened.setKeepAlive(*KEEP_ALIVE)
            yield ended

    def _register(
        self,
        binding: typing.Any,
        opened: typing.Any,
        tell: Wake,
        undo: contextlib.ExitStack,
    ) -> None:
        """Have libvirt call ``tell``; a driver may lack some events."""

        def device_changed(
            _: object, device: typing.Any, *_how: object
        ) -> None:
            if not _OF_GUESTS.match(device.name()):
                tell()

        def guest_changed(*_: object) -> None:
            if self._awaits_guests():
                tell()

        for group, kind, heard in (
            (
                'nodeDevice',
                binding.VIR_NODE_DEVICE_EVENT_ID_LIFECYCLE,
                device_changed,
            ),
            (
                'nodeDevice',
                binding.VIR_NODE_DEVICE_EVENT_ID_UPDATE,
                device_changed,
            ),
            ('domain', binding.VIR_DOMAIN_EVENT_ID_LIFECYCLE, guest_changed),
        ):
            register = getattr(opened, f'{group}EventRegisterAny')
            deregister = getattr(opened, f'{group}EventDeregisterAny')
            with contextlib.suppress(binding.libvirtError):
                undo.callback(deregister, register(None, kind, heard, None))


@functools.cache
def _register_loop(binding: typing.Any) -> None:
    """Give the process libvirt's event loop; it must precede connections."""
    binding.virEventRegisterDefaultImpl()
