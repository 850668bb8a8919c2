# SPDX-License-Identifier: Apache-2.0
"""Libvirt's events become hints, and the thread survives and ends.

The binding is scripted: libvirt has no event loop that a test could step
through. tests/full/libvirt has the same with a real libvirtd.
"""

import queue
import threading

import pytest

from drivers.libvirt_python import events
from drivers.libvirtd import hypervisor

PATIENCE = 60  # seconds; only a hang takes as long
DEVICE = 'pci_0000_84_00_0'


class LibvirtError(Exception):
    """The binding's error."""


class Device:
    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name


class Opened:
    """A connection; ``heard`` has its callbacks by the kind of event."""

    def __init__(self):
        self.heard = {}
        self.closed = False

    def _register(self, _which, kind, callback, _opaque):
        self.heard[kind] = callback
        return kind

    nodeDeviceEventRegisterAny = domainEventRegisterAny = _register  # noqa: N815

    def _deregister(self, kind):
        del self.heard[kind]

    nodeDeviceEventDeregisterAny = domainEventDeregisterAny = _deregister  # noqa: N815

    def registerCloseCallback(self, callback, _opaque):  # noqa: N802
        self.heard['close'] = callback

    def unregisterCloseCallback(self):  # noqa: N802
        raise LibvirtError('the connection is broken')

    def setKeepAlive(self, *_how):  # noqa: N802
        raise LibvirtError('not supported')

    def close(self):
        self.closed = True


class Binding:
    """Libvirt-python, whose loop runs what a test puts into ``happens``."""

    libvirtError = LibvirtError  # noqa: N815
    VIR_NODE_DEVICE_EVENT_ID_LIFECYCLE = 'device'
    VIR_NODE_DEVICE_EVENT_ID_UPDATE = 'device changed'
    VIR_DOMAIN_EVENT_ID_LIFECYCLE = 'guest'

    def __init__(self, answers=()):
        self.answers = list(answers)
        self.happens = queue.SimpleQueue()
        self.opened = queue.SimpleQueue()
        self.done = queue.SimpleQueue()

    def virEventRegisterDefaultImpl(self):  # noqa: N802
        pass

    def virEventAddTimeout(self, *_how):  # noqa: N802
        return 1

    def virEventUpdateTimeout(self, *_how):  # noqa: N802
        self.happens.put(lambda: None)

    def virEventRemoveTimeout(self, _number):  # noqa: N802
        self.done.put(True)

    def virEventRunDefaultImpl(self):  # noqa: N802
        self.happens.get(timeout=PATIENCE)()
        self.done.put(True)

    def openReadOnly(self, _uri):  # noqa: N802
        if self.answers and isinstance(self.answers[0], Exception):
            raise self.answers.pop(0)
        opened = Opened()
        self.opened.put(opened)
        return opened

    def happen(self, event):
        """Have the loop run this; return when it did."""
        self.happens.put(event)
        self.done.get(timeout=PATIENCE)


class Hints:
    """Hints that were given."""

    def __init__(self):
        self.given = queue.SimpleQueue()

    def __call__(self):
        self.given.put(True)

    def wait(self):
        self.given.get(timeout=PATIENCE)

    def count(self):
        number = self.given.qsize()
        while not self.given.empty():
            self.given.get()
        return number


@pytest.fixture
def hints():
    return Hints()


@pytest.fixture
def hear(hints, monkeypatch):
    """Start to hear the events of a binding."""
    monkeypatch.setattr(events, 'FIRST_RETRY', 0.001)
    started = []

    def hear(binding, awaits_guests=lambda: False):
        one = events.Events('qemu:///system', lambda: binding)
        started.append(one)
        one.start(hints, awaits_guests)
        return one

    yield hear
    for one in started:
        one.stop()


def test_changes_of_devices_are_hints(hear, hints):
    binding = Binding()
    hear(binding)
    opened = binding.opened.get(timeout=PATIENCE)
    for kind in ('device', 'device changed'):
        binding.happen(
            lambda kind=kind: opened.heard[kind](opened, Device(DEVICE), 0)
        )
        assert hints.count() == 1


@pytest.mark.parametrize(
    'name',
    [
        'net_vnet3_fe_54_00_12_34_56',
        'net_tap0b1f_fe_16_3e_00_00_01',
        'net_macvtap0_52_54_00_12_34_56',
        'net_qvo0b1f_aa_bb_cc_dd_ee_ff',
        'block_sdb_3600a098038304437',
        'scsi_3_0_0_1',
        'scsi_generic_sg2',
        'scsi_target3_0_0',
    ],
)
def test_devices_of_guests_are_no_hints(hear, hints, name):
    binding = Binding()
    hear(binding)
    opened = binding.opened.get(timeout=PATIENCE)
    binding.happen(lambda: opened.heard['device'](opened, Device(name), 0, 0))
    assert hints.count() == 0


@pytest.mark.parametrize('matter', [True, False])
def test_guests_are_hints_while_they_matter(hear, hints, matter):
    binding = Binding()
    hear(binding, lambda: matter)
    opened = binding.opened.get(timeout=PATIENCE)
    binding.happen(lambda: opened.heard['guest'](opened, object(), 2, 0))
    assert hints.count() == matter


def test_the_end_of_a_connection_and_the_next_one_are_hints(hear, hints):
    binding = Binding()
    hear(binding)
    first = binding.opened.get(timeout=PATIENCE)
    assert hints.count() == 0  # the first cycle reads everything anyway
    binding.answers = [LibvirtError('connection refused')] * 3
    binding.happen(lambda: first.heard['close'](first, 1, None))
    hints.wait()
    second = binding.opened.get(timeout=PATIENCE)
    hints.wait()
    assert binding.answers == []
    assert first.closed
    assert hints.count() == 0
    binding.happen(lambda: second.heard['device'](second, Device(DEVICE), 1))
    assert hints.count() == 1


def test_a_libvirt_that_comes_late_is_a_hint(hear, hints):
    binding = Binding([LibvirtError('no such file')] * 2)
    hear(binding)
    binding.opened.get(timeout=PATIENCE)
    hints.wait()


def test_the_end_gives_no_hint_and_leaves_no_thread(hear, hints, monkeypatch):
    monkeypatch.setattr(events, 'GRACE', PATIENCE)
    binding = Binding()
    hearing = hear(binding)
    opened = binding.opened.get(timeout=PATIENCE)
    hearing.stop()
    assert hints.count() == 0
    assert opened.closed
    assert 'libvirt-events' not in {t.name for t in threading.enumerate()}


def test_the_end_does_not_wait_for_a_retry(hear, monkeypatch):
    monkeypatch.setattr(events, 'FIRST_RETRY', 3600)
    tried = threading.Event()

    class Away(Binding):
        def openReadOnly(self, _uri):  # noqa: N802
            tried.set()
            raise LibvirtError('connection refused')

    monkeypatch.setattr(events, 'GRACE', PATIENCE)
    hearing = hear(Away())
    assert tried.wait(PATIENCE)
    hearing.stop()
    assert 'libvirt-events' not in {t.name for t in threading.enumerate()}


def test_without_the_binding_there_are_no_events(hints):
    def load():
        raise hypervisor.Unanswered('libvirt-python cannot be imported')

    hearing = events.Events('qemu:///system', load)
    hearing.start(hints, lambda: True)
    hearing.stop()
    assert hints.count() == 0
