# SPDX-License-Identifier: Apache-2.0
"""The sign that the nova-compute of a host reports no resources."""

import json
import os
import pathlib

import pytest

from compute_agent.identity import nova_marker
from compute_agent.identity.nova_marker import Finding

UUID = 'aaaaaaaa-1111-4111-8111-111111111111'
BOOT = 'cccccccc-1111-4111-8111-111111111111'
TICK = os.sysconf('SC_CLK_TCK')
UP = 10_000  # seconds since the boot
NOVA = '/usr/bin/python3 /usr/bin/nova-compute'


class Host:
    """A host with files and processes."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.state = folder / 'nova'
        self.proc = folder / 'proc'
        self.state.mkdir()
        boot = self.proc / 'sys' / 'kernel' / 'random' / 'boot_id'
        boot.parent.mkdir(parents=True)
        boot.write_text(f'{BOOT}\n')
        (self.proc / 'uptime').write_text(f'{UP}.25 1.00\n')
        (self.state / 'compute_id').write_text(UUID)

    def start(self, number, line=NOVA, *, at=5000, name='nova-compute'):
        """Start a process, so many seconds after the boot."""
        folder = self.proc / str(number)
        folder.mkdir()
        words = (word.encode() for word in line.split())
        (folder / 'cmdline').write_bytes(b'\0'.join(words) + b'\0')
        (folder / 'comm').write_text(f'{name}\n')
        before = ' '.join(str(field) for field in range(4, 22))
        (folder / 'stat').write_text(
            f'{number} ({name}) S {before} {at * TICK} 1 2 3\n'
        )

    def see_all(self):
        self.start(2, '', at=0, name='kthreadd')

    def mark(self, *, at=5000, boot=BOOT):
        said = {'driver': 'x', 'boot_id': boot, 'started': str(at * TICK)}
        (self.state / nova_marker.FILE_NAME).write_text(json.dumps(said))

    def look(self):
        return nova_marker.look([self.state], self.proc)

    @property
    def marker(self):
        made = nova_marker.NovaMarker([self.state], self.proc)
        made.begin()
        return made


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_the_process_that_wrote_the_file_is_silent(host):
    host.start(101, name='odd) S (name')
    host.mark()
    assert host.look().finding is Finding.SILENT
    assert host.marker.is_silent(UUID)
    assert host.marker.reason_to_wait(UUID) == ''


@pytest.mark.parametrize('is_marked', [True, False])
def test_an_old_process_that_did_not_write_it_reports(host, is_marked):
    if is_marked:
        host.mark(at=4000)  # it was restarted without the driver
    host.start(101)
    assert host.look().finding is Finding.REPORTS
    why = host.marker.reason_to_wait(UUID)
    assert 'process 101 runs without a driver of compute-agent-nova' in why
    assert 'mode = companion' in why
    assert '\n' not in why
    assert not host.marker.is_silent(UUID)


def test_a_file_of_an_earlier_boot_counts_for_nothing(host):
    host.start(101)
    host.mark(boot='dddddddd-1111-4111-8111-111111111111')
    assert host.look().finding is Finding.REPORTS


def test_a_young_process_may_still_write_it(host):
    host.start(101, at=UP - 60)
    assert host.look().finding is Finding.STARTS
    assert 'nova-compute starts' in host.marker.reason_to_wait(UUID)


def test_one_of_two_processes_is_enough(host):
    """The other one may be that of bare-metal nodes."""
    host.start(101)
    host.start(102, at=6000)
    host.mark(at=6000)
    assert host.look().finding is Finding.SILENT


@pytest.mark.parametrize('is_marked', [True, False])
def test_no_process_among_all_means_that_it_is_stopped(host, is_marked):
    host.see_all()
    host.start(3, '/usr/bin/libvirtd', name='libvirtd')
    if is_marked:
        host.mark()
    assert host.look().finding is Finding.STOPPED
    assert host.marker.reason_to_wait(UUID) == ''
    assert not host.marker.is_silent(UUID)


def test_in_a_container_of_one_s_own_nothing_is_known(host):
    host.start(1, '/usr/bin/compute-agent run', name='compute-agent')
    found = host.look()
    assert found.finding is Finding.UNKNOWN
    assert 'compute_agent_reports' in found.fact
    host.mark()
    found = host.look()
    assert found.finding is Finding.UNKNOWN
    assert str(host.state / 'compute_agent_reports') in found.fact
    assert host.marker.reason_to_wait(UUID) == ''


@pytest.mark.parametrize('text', ['', '[]', '{"started": 5}', '\0', '7'])
def test_a_file_that_is_not_nova_compute_s_says_nothing(host, text):
    host.start(101)
    (host.state / nova_marker.FILE_NAME).write_text(text)
    assert host.look().finding is Finding.REPORTS


def test_nothing_can_be_read(host, tmp_path):
    host.proc = tmp_path / 'no-proc'
    assert host.look().finding is Finding.UNKNOWN


def test_other_roots_are_not_this_host_s(host):
    host.start(101)
    other = 'bbbbbbbb-1111-4111-8111-111111111111'
    assert host.marker.reason_to_wait(other) == ''
    assert not host.marker.is_silent(other)
