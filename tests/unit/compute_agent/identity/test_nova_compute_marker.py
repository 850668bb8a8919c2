# SPDX-License-Identifier: Apache-2.0
"""The sign that the nova-compute of a host reports no resources."""

import json
import os
import pathlib

import pytest

from compute_agent.identity import nova_compute
from compute_agent.identity.nova_compute import NovaState

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
        self.known = set()

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

    def mark(self, *, at=5000, boot=BOOT, number=101):
        said = {
            'process': number, 'boot_id': boot, 'started': str(at * TICK),
        }  # fmt: skip
        (self.state / nova_compute.FILE_NAME).write_text(json.dumps(said))

    def look(self):
        return nova_compute.look([self.state], self.proc)

    @property
    def marker(self):
        return self.marked()

    def marked(self, *drivers):
        made = nova_compute.NovaMarker(
            [self.state], lambda: self.known, drivers=drivers, proc=self.proc
        )
        made.begin()
        return made


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_the_process_that_wrote_the_file_is_silent(host):
    host.start(101, name='odd) S (name')
    host.mark()
    assert host.look().state is NovaState.SILENT
    assert host.marker.is_silent(UUID)
    assert host.marker.reason_to_wait(UUID) == ''


@pytest.mark.parametrize('is_marked', [True, False])
def test_an_old_process_that_did_not_write_it_reports(host, is_marked):
    if is_marked:
        host.mark(at=4000)  # it was restarted without the driver
    host.start(101)
    assert host.look().state is NovaState.REPORTS
    why = host.marker.reason_to_wait(UUID)
    assert "process 101 has no file: it runs nova's own driver" in why
    assert 'mode = companion' in why
    assert '\n' not in why
    assert not host.marker.is_silent(UUID)


def test_a_file_of_an_earlier_boot_counts_for_nothing(host):
    host.start(101)
    host.mark(boot='dddddddd-1111-4111-8111-111111111111')
    assert host.look().state is NovaState.REPORTS


def test_a_young_process_may_still_write_it(host):
    host.start(101, at=UP - 60)
    assert host.look().state is NovaState.STARTS
    assert 'nova-compute starts' in host.marker.reason_to_wait(UUID)


def test_the_file_of_one_of_two_processes_is_enough(host):
    """The other one is that of bare-metal nodes, with another driver."""
    host.start(101)
    host.start(102, at=6000)
    host.mark(at=6000)
    assert host.look().state is NovaState.SILENT


@pytest.mark.parametrize('is_marked', [True, False])
def test_no_process_among_all_means_that_it_is_stopped(host, is_marked):
    host.see_all()
    host.start(3, '/usr/bin/libvirtd', name='libvirtd')
    if is_marked:
        host.mark()
    assert host.look().state is NovaState.STOPPED
    assert host.marker.reason_to_wait(UUID) == ''
    assert not host.marker.is_silent(UUID)


def test_in_a_container_of_one_s_own_nothing_is_known(host):
    host.start(1, '/usr/bin/compute-agent run', name='compute-agent')
    found = host.look()
    assert found.state is NovaState.UNKNOWN
    assert 'compute_agent.LibvirtDriver' in found.fact
    host.mark()
    found = host.look()
    assert found.state is NovaState.UNKNOWN
    assert str(host.state / 'compute_agent.LibvirtDriver') in found.fact
    assert host.marker.reason_to_wait(UUID) == ''


@pytest.mark.parametrize('text', ['', '[]', '{"started": 5}', '\0', '7'])
def test_a_file_that_is_not_nova_compute_s_says_nothing(host, text):
    host.start(101)
    (host.state / nova_compute.FILE_NAME).write_text(text)
    assert host.look().state is NovaState.REPORTS


def test_a_process_of_another_name_is_known_by_the_file(host):
    host.start(101, '/usr/bin/python3 /opt/start-nova')
    host.mark()
    assert host.look().state is NovaState.SILENT


def test_the_file_of_another_container_has_another_number(host):
    host.start(101)
    host.mark(number=7)
    host.start(7, '/sbin/agetty', at=1)
    assert host.look().state is NovaState.SILENT


def test_a_process_that_just_ended_counts_for_nothing(host):
    host.start(101)
    (host.proc / '101' / 'stat').unlink()
    host.see_all()
    assert host.look().state is NovaState.STOPPED


def test_the_time_since_the_boot_may_be_that_of_a_container(host):
    host.start(101)
    (host.proc / 'uptime').write_text('60.0 1.0')
    assert host.look().state is NovaState.REPORTS


def test_nothing_can_be_read(host, tmp_path):
    host.proc = tmp_path / 'no-proc'
    assert host.look().state is NovaState.UNKNOWN


def test_a_root_that_was_found_by_its_name_is_this_host_s(host):
    """The agent may not read nova's files."""
    (host.state / 'compute_id').unlink()
    host.start(101)
    assert host.marker.reason_to_wait(UUID) == ''
    host.known.add(UUID)
    assert 'process 101' in host.marker.reason_to_wait(UUID)


def test_other_roots_are_not_this_host_s(host):
    host.start(101)
    other = 'bbbbbbbb-1111-4111-8111-111111111111'
    assert host.marker.reason_to_wait(other) == ''
    assert not host.marker.is_silent(other)


@pytest.mark.parametrize(
    'text', ['[' * 100_000, '{"started": "' + '5' * 100_000]
)
def test_a_large_file_says_nothing(host, text):
    host.start(101)
    path = host.state / nova_compute.FILE_NAME
    path.write_text(text)
    assert f"{path} is not nova-compute's" in host.look().fact


def test_what_is_no_file_of_nova_compute_is_not_read(host):
    host.start(101)
    host.mark()
    path = host.state / nova_compute.FILE_NAME
    path.chmod(0o666)
    assert 'others may write to it' in host.look().fact
    aside = path.rename(path.with_name('aside'))
    path.symlink_to(aside)
    assert 'symbolic link' in host.look().fact
    path.unlink()
    os.mkfifo(path)
    assert 'is not read' in host.look().fact
    path.unlink()
    path.mkdir()
    assert 'is not read' in host.look().fact
    assert host.look().state is NovaState.REPORTS


@pytest.mark.parametrize(
    'driver', ['libvirt.LibvirtDriver', 'ironic.IronicDriver']
)
def test_nova_s_own_driver_in_nova_conf_is_a_reason_to_wait(host, driver):
    other = 'bbbbbbbb-1111-4111-8111-111111111111'
    marker = host.marked(driver, 'host')
    for uuid in (UUID, other):
        assert f'the driver {driver}, which' in marker.reason_to_wait(uuid)
    assert (
        host.marked('compute_agent.LibvirtDriver').reason_to_wait(UUID) == ''
    )
    host.start(101)
    host.mark()
    marker = host.marked(driver)
    assert marker.reason_to_wait(UUID) == ''
