# SPDX-License-Identifier: Apache-2.0
"""What systemd hears, through a socket like its own."""

import os
import socket

import pytest

from compute_agent import errors
from compute_agent.cmd.run import monitors, service_manager, status

PATIENCE = 60  # seconds; only a hang takes as long


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    """The socket that systemd would listen on."""
    path = tmp_path / 'notify'
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(path))
        heard.setblocking(False)
        monkeypatch.setenv('NOTIFY_SOCKET', str(path))
        monkeypatch.setenv('WATCHDOG_USEC', '1200000000')
        monkeypatch.setenv('WATCHDOG_PID', str(os.getpid()))
        yield heard


@pytest.fixture
def state():
    return status.DaemonStatus()


def manager(state, interval=60):
    return service_manager.ServiceManager(state, lambda: interval)


def lines(systemd):
    """Return the lines of the next message."""
    return systemd.recv(4096).decode().splitlines()


def test_ready_comes_with_the_time_until_a_cycle_must_have_finished(
    systemd, state
):
    manager(state).ready()
    assert lines(systemd) == [
        'READY=1',
        'STATUS=no cycle has finished yet',
        'WATCHDOG_USEC=1260000000',
    ]


def test_a_finished_cycle_feeds_the_watchdog(systemd, state):
    state.begin()
    state.end([])
    manager(state).cycle_finished()
    alive, said, _ = lines(systemd)
    assert alive == 'WATCHDOG=1'
    assert said.startswith('STATUS=cycle at ')


@pytest.mark.parametrize('interval', [600, 0])
def test_the_interval_is_added_to_what_the_unit_allows_a_cycle(
    systemd, state, interval
):
    manager(state, interval).cycle_finished()
    assert f'WATCHDOG_USEC={(1200 + interval) * 10**6}' in lines(systemd)


def test_after_the_only_cycle_nothing_is_waited_for(systemd, state):
    one = manager(state, -1)
    one.ready()
    assert 'WATCHDOG_USEC=1200000000' in lines(systemd)
    state.fail(errors.Unavailable('no answer'))
    one.cycle_finished()
    assert 'WATCHDOG_USEC=1200000000' in lines(systemd)
    state.end([])
    one.cycle_finished()
    assert 'WATCHDOG_USEC=0' in lines(systemd)


@pytest.mark.parametrize('name', ['knoten-ä-節', 'x' * 100_000, '\udc80'])
def test_whatever_the_status_says_the_watchdog_is_fed(systemd, state, name):
    state.fail(errors.Unavailable(name))
    manager(state).cycle_finished()
    assert lines(systemd)[0] == 'WATCHDOG=1'


def test_an_abstract_socket_is_one_as_well(state, monkeypatch):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind('\0compute-agent-test-' + str(os.getpid()))
        address = heard.getsockname().decode()
        monkeypatch.setenv('NOTIFY_SOCKET', address.replace('\0', '@'))
        manager(state).ready()
        heard.settimeout(PATIENCE)
        assert heard.recv(4096).startswith(b'READY=1\n')


def test_a_reload_has_its_moment(systemd, state):
    manager(state).reloading()
    reloading, moment = lines(systemd)
    assert reloading == 'RELOADING=1'
    name, _, number = moment.partition('=')
    assert name == 'MONOTONIC_USEC'
    assert int(number) > 0


def test_the_end_says_why(systemd, state):
    manager(state).stopping('SIGTERM requested it')
    assert lines(systemd) == [
        'STOPPING=1',
        'STATUS=stops: SIGTERM requested it',
    ]


@pytest.mark.parametrize(
    ('name', 'value'),
    [('WATCHDOG_USEC', ''), ('WATCHDOG_USEC', 'soon'), ('WATCHDOG_PID', '1')],
)
def test_without_a_watchdog_of_its_own_it_sets_no_time(
    systemd, state, monkeypatch, name, value
):
    monkeypatch.setenv(name, value)
    manager(state).cycle_finished()
    assert not any('WATCHDOG_USEC' in line for line in lines(systemd))


def test_without_systemd_nothing_is_sent(systemd, state, monkeypatch):
    monkeypatch.delenv('NOTIFY_SOCKET')
    manager(state).ready()
    with pytest.raises(BlockingIOError):
        systemd.recv(4096)


def test_a_systemd_that_is_gone_is_no_error(systemd, state, monkeypatch):
    monkeypatch.setenv('NOTIFY_SOCKET', '/nowhere')
    manager(state).ready()


@pytest.mark.parametrize(
    ('usec', 'seconds'), [('900000000', 900.0), ('', 1200.0), ('0', 1200.0)]
)
def test_a_probe_and_the_watchdog_allow_a_cycle_the_same_time(
    systemd, monkeypatch, usec, seconds
):
    monkeypatch.setenv('WATCHDOG_USEC', usec)
    assert monitors._longest_cycle() == seconds
