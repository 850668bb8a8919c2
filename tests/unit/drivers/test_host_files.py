# SPDX-License-Identifier: Apache-2.0
"""Files are read below the root; what cannot be read is None."""

import os

import pytest

from compute_agent import errors
from drivers import host_files


def test_paths_are_taken_below_the_root(tmp_path):
    (tmp_path / 'proc').mkdir()
    (tmp_path / 'proc/meminfo').write_text('MemTotal: 1 kB\n')
    files = host_files.HostFiles(tmp_path)
    assert files.text('/proc/meminfo') == 'MemTotal: 1 kB\n'
    assert files.word('/proc/meminfo') == 'MemTotal: 1 kB'


def test_a_missing_file_or_a_folder_is_none(tmp_path):
    files = host_files.HostFiles(tmp_path)
    assert files.text('/proc/cpuinfo') is None
    assert files.word('/') is None


def test_bytes_that_are_no_text_are_no_error(tmp_path):
    (tmp_path / 'model').write_bytes(b'CPU \xff\n')
    assert host_files.HostFiles(tmp_path).word('/model') == 'CPU \ufffd'


def test_no_more_octets_are_read_than_asked_for(tmp_path):
    """A device answers for each octet of its configuration, slowly."""
    pipe = tmp_path / 'config'
    os.mkfifo(pipe)
    with pipe.open('r+b', buffering=0) as other_end:
        os.set_blocking(other_end.fileno(), False)
        other_end.write(b'\x86\x80\x01\x00and the rest')
        found = host_files.HostFiles(tmp_path).octets('/config', 4)
        assert found == b'\x86\x80\x01\x00'
        assert other_end.read(100) == b'and the rest'


def test_the_kernel_names_the_machine_before_uname_does(hosts):
    files = host_files.HostFiles(hosts / 'riscv64', 'x86_64')
    assert files.machine() == 'riscv64'


def test_uname_names_the_machine_where_the_kernel_does_not(tmp_path):
    assert host_files.HostFiles(tmp_path, 's390x').machine() == 's390x'
    assert host_files.HostFiles(tmp_path).machine() == os.uname().machine


def test_the_file_system_is_that_of_the_nearest_folder_that_is_there(tmp_path):
    files = host_files.HostFiles(tmp_path)
    there = files.file_system_bytes('/')
    assert there > 0
    assert files.file_system_bytes('/var/lib/nova/instances') == there


def test_a_file_system_that_cannot_be_read_names_the_path(tmp_path):
    (tmp_path / 'var').write_text('no folder')
    with pytest.raises(errors.DriverError, match='/var/lib'):
        host_files.HostFiles(tmp_path).file_system_bytes('/var/lib')


def test_a_loop_of_links_has_no_other_path(tmp_path):
    (tmp_path / 'a').symlink_to('b')
    (tmp_path / 'b').symlink_to('a')
    assert host_files.HostFiles(tmp_path).real_path('/a/c') == '/a/c'
