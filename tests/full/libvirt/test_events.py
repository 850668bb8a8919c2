# SPDX-License-Identifier: Apache-2.0
"""Events of a real libvirtd, and their way to placement."""

import contextlib
import queue

import command_line
import local_libvirt
import pytest

from drivers.libvirt_python import connection, events

PATIENCE = 300  # seconds; only an event that is lost takes as long
DEVICE = """
<device>
  <parent>scsi_host2</parent>
  <capability type='scsi_host'>
    <capability type='fc_host'>
      <wwnn>2000000012341234</wwnn>
      <wwpn>{wwpn}</wwpn>
    </capability>
  </capability>
</device>
"""


@pytest.fixture
def hints():
    """Hear the events at an address; return the queue of their hints."""
    hearing = []

    def hear(uri, awaits_guests=lambda: False):
        told = queue.SimpleQueue()
        one = events.Events(uri, connection.load_binding)
        hearing.append(one)
        one.start(lambda: told.put(True), awaits_guests)
        return told

    yield hear
    for one in hearing:
        one.stop()


@contextlib.contextmanager
def connected(uri):
    with contextlib.closing(local_libvirt.binding().open(uri)) as opened:
        yield opened


def create(opened, number=1):
    wwpn = f'10000000{number:08x}'
    return opened.nodeDeviceCreateXML(DEVICE.format(wwpn=wwpn), 0)


def hear_one(hints, act):
    """Act until it is heard: nobody tells when the thread is connected."""
    while True:
        act()
        with contextlib.suppress(queue.Empty):
            return hints.get(timeout=0.2)


def test_a_device_that_comes_and_goes_is_a_hint(libvirtd, hints):
    with connected(libvirtd.test_uri) as opened:
        told = hints(libvirtd.test_uri)
        hear_one(told, lambda: create(opened).destroy())
        device = create(opened)
        told.get(timeout=PATIENCE)
        device.destroy()
        told.get(timeout=PATIENCE)


@pytest.mark.parametrize('end', ['stop', 'kill'])
def test_the_end_and_the_return_of_libvirtd_are_hints(libvirtd, hints, end):
    with connected(libvirtd.test_uri) as opened:
        told = hints(libvirtd.test_uri)
        hear_one(told, lambda: create(opened).destroy())
    while not told.empty():
        told.get()
    getattr(libvirtd, end)()
    told.get(timeout=PATIENCE)
    libvirtd.restart()
    told.get(timeout=PATIENCE)
    with connected(libvirtd.test_uri) as opened:
        hear_one(told, lambda: create(opened).destroy())


@pytest.mark.parametrize('matter', [True, False])
def test_a_guest_that_ends_is_a_hint_while_it_matters(libvirtd, hints, matter):
    """Libvirt keeps the order of events; the second one looks back."""
    seen = queue.SimpleQueue()

    def awaits_guests():
        seen.put(told.qsize())
        return matter

    with connected(libvirtd.test_uri) as opened:
        told = hints(libvirtd.test_uri, awaits_guests)
        hear_one(told, lambda: create(opened).destroy())
        guest = opened.lookupByName('test')
        guest.destroy()
        guest.create()
        before, after = (seen.get(timeout=PATIENCE) for _ in range(2))
        assert after - before == matter


def test_an_event_begins_a_cycle_of_the_daemon(cli, daemon, libvirtd):
    """The next periodic cycle is an hour away."""
    cli.configure(
        compute_driver='libvirt', update_resources_interval=3600, debug=True
    )
    with cli.config.open('a') as config:
        config.write(f'\n[libvirt]\nconnection_uri = {libvirtd.test_uri}\n')
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for('cycle: ')
    with connected(libvirtd.test_uri) as opened:
        create(opened)
        one.wait_for('cycle: ', times=2)
    libvirtd.kill()
    one.wait_for('cycle: ', times=3)
    libvirtd.restart()
    one.wait_for('cycle: ', times=4)
    assert one.end() == 0, one.said
    assert 'stopping in the middle' not in one.said
    assert 'Traceback' not in one.said
