# SPDX-License-Identifier: Apache-2.0
"""The libvirtd of the tests: it answers, ends, and comes back."""

import contextlib

import local_libvirt
import pytest

from drivers.libvirt_python import connection
from drivers.libvirtd import hypervisor


@pytest.fixture
def libvirt():
    return local_libvirt.binding()


def names(libvirt, uri):
    with contextlib.closing(libvirt.open(uri)) as connection:
        return {device.name() for device in connection.listAllDevices(0)}


def test_it_has_the_machine_s_devices_and_made_up_ones(libvirtd, libvirt):
    assert 'computer' in names(libvirt, libvirtd.uri)
    assert 'scsi_host11' in names(libvirt, libvirtd.test_uri)


@pytest.mark.parametrize('end', ['stop', 'kill'])
def test_it_ends_and_is_back_at_the_same_address(libvirtd, libvirt, end):
    getattr(libvirtd, end)()
    with pytest.raises(libvirt.libvirtError):
        libvirt.open(libvirtd.uri)
    libvirtd.restart()
    assert 'computer' in names(libvirt, libvirtd.uri)


def hostname(asked):
    """Ask until it is answered: on a busy machine that may take seconds."""
    while True:
        with contextlib.suppress(hypervisor.Unanswered):
            return asked.hostname()


def test_a_libvirtd_that_hangs_keeps_no_one(libvirtd, monkeypatch):
    monkeypatch.setattr(connection, 'LIMIT', 1)
    with contextlib.closing(connection.Connection(libvirtd.uri)) as asked:
        name = hostname(asked)
        libvirtd.freeze()
        try:
            with pytest.raises(hypervisor.Unanswered, match='no answer'):
                asked.hostname()
            with pytest.raises(hypervisor.Unanswered, match='an earlier'):
                asked.memory_mib()
        finally:
            libvirtd.thaw()
        assert hostname(asked) == name
