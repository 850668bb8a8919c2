# SPDX-License-Identifier: Apache-2.0
"""Events of devices are counted from the start to the close."""

import dataclasses
import queue
import threading

import pytest

from drivers.host import events


@dataclasses.dataclass
class Event:
    device_path: str


class Monitor:
    """A socket whose events a test sends."""

    def __init__(self):
        self.sent = queue.SimpleQueue()

    def start(self):
        pass

    def set_receive_buffer_size(self, size):
        raise PermissionError('only root may')

    def poll(self, timeout=None):
        try:
            found = self.sent.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(found, OSError):
            raise found
        return found


@pytest.fixture
def heard():
    """Events of a scripted socket, which are heard; with what wakes."""
    monitor, woken = Monitor(), threading.Semaphore(0)
    made = events.DeviceEvents(lambda: monitor)
    made.start(woken.release)
    yield made, monitor, woken
    made.close()


def test_an_event_is_counted_and_wakes(heard):
    made, monitor, woken = heard
    assert made.count() == 0
    monitor.sent.put(Event('/devices/pci0000:00/0000:00:02.0'))
    assert woken.acquire(timeout=30)
    assert made.count() == 1


def test_virtual_devices_do_not_count(heard):
    made, monitor, woken = heard
    monitor.sent.put(Event('/devices/virtual/net/tap0'))
    monitor.sent.put(Event('/devices/pci0000:00/0000:00:02.0'))
    assert woken.acquire(timeout=30)
    assert made.count() == 1


def test_lost_events_count_as_one(heard):
    made, monitor, woken = heard
    monitor.sent.put(OSError('No buffer space available'))
    assert woken.acquire(timeout=30)
    assert made.count() == 1


def test_nothing_is_heard_before_the_start_and_after_the_close(heard):
    made, _, _ = heard
    made.close()
    assert made.count() is None
    assert events.DeviceEvents(Monitor).count() is None


@pytest.mark.parametrize(
    'problem', [ImportError('No library named udev'), OSError('refused')]
)
def test_events_that_cannot_be_heard_are_said_once(problem, caplog):
    def load():
        raise problem

    made = events.DeviceEvents(load)
    with caplog.at_level('INFO'):
        made.start(lambda: None)
    assert made.count() is None
    assert [r.message for r in caplog.records] == [
        (
            f'events of devices are not heard ({problem}): each cycle reads all '
            'facts of devices'
        )
    ]
    made.close()


def test_the_kernel_of_this_host_can_be_heard():
    """It is pyudev as it is installed; no event has to come."""
    try:
        monitor = events.kernel_monitor()
        monitor.start()
    except (ImportError, OSError) as exc:
        pytest.skip(f'no events here: {exc}')
    found = monitor.poll(timeout=0)
    assert found is None or found.device_path
