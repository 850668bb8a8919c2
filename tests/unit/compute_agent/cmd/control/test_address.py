# SPDX-License-Identifier: Apache-2.0
"""The file of the control socket: its mode, stale ones, long paths."""

import os
import pathlib
import socket
import stat

import pytest

from compute_agent import errors
from compute_agent.cmd.control import address


@pytest.fixture
def opened():
    """Return what listens in a folder; it is closed after the test."""
    found = []

    def opened(folder):
        found.append(address.listening(folder))
        return found[-1]

    yield opened
    for each in found:
        each.close()


@pytest.mark.parametrize('umask', [0o000, 0o077])
def test_only_its_owner_may_connect_whatever_the_umask(
    tmp_path, opened, umask
):
    before = os.umask(umask)
    try:
        opened(tmp_path)
    finally:
        os.umask(before)
    mode = (tmp_path / address.NAME).stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_nobody_can_connect_before_the_mode_is_right(
    tmp_path, opened, monkeypatch
):
    """At each step until it listens, the file is private already."""
    seen = []
    path = tmp_path / address.NAME
    os.umask(os.umask(0o022))

    class Socket(socket.socket):
        def bind(self, name):
            super().bind(name)
            seen.append(stat.S_IMODE(path.stat().st_mode))
            with pytest.raises(ConnectionRefusedError):
                address.connected(tmp_path, 60)

    monkeypatch.setattr(address.socket, 'socket', Socket)
    opened(tmp_path)
    assert seen == [0o600]


def test_the_socket_of_a_daemon_that_died_is_replaced(tmp_path, opened):
    opened(tmp_path).close()
    assert (tmp_path / address.NAME).exists()
    with pytest.raises(ConnectionRefusedError):
        address.connected(tmp_path, 60)
    listener = opened(tmp_path)
    with address.connected(tmp_path, 60):
        listener.accept()[0].close()


def test_another_file_in_its_place_is_left_alone(tmp_path, opened):
    path = tmp_path / address.NAME
    path.write_text('mine')
    with pytest.raises(
        errors.ConfigError, match='it is not a socket: remove it'
    ):
        opened(tmp_path)
    assert path.read_text() == 'mine'


def test_a_link_in_its_place_is_not_followed(tmp_path, opened):
    opened(tmp_path).close()
    folder = tmp_path / 'other'
    folder.mkdir()
    (folder / address.NAME).symlink_to(tmp_path / address.NAME)
    with pytest.raises(errors.ConfigError, match='is not a socket'):
        opened(folder)


@pytest.mark.parametrize('length', [address.LONGEST, address.LONGEST + 1, 250])
def test_a_path_of_any_length_can_be_used(tmp_path, opened, length):
    """The kernel takes 107 bytes."""
    rest = length - len(os.fsencode(tmp_path / 'x' / address.NAME)) + 1
    folder = tmp_path / ('x' * rest if rest < 200 else 'x' * 200)
    folder.mkdir()
    listener = opened(folder)
    with address.connected(folder, 60):
        listener.accept()[0].close()
    address.remove(folder)
    assert not (folder / address.NAME).exists()
    open_files = pathlib.Path('/proc/self/fd')
    descriptors = list(open_files.iterdir())
    with pytest.raises(FileNotFoundError):
        address.connected(folder, 60)
    assert len(list(open_files.iterdir())) == len(descriptors)
