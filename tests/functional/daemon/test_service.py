# SPDX-License-Identifier: Apache-2.0
"""The daemon as systemd runs it, and the report that it writes on SIGUSR2."""

import signal
import socket
import stat

import command_line
import pytest

PATIENCE = command_line.PATIENCE


class Systemd:
    """The end of the socket at which systemd listens."""

    def __init__(self, heard):
        self._heard = heard
        self._heard.settimeout(PATIENCE)
        self.messages = []

    def wait_for(self, line):
        """Return the first message with this line; fail if none comes."""
        while True:
            self.messages.append(self._heard.recv(65536).decode().splitlines())
            if line in self.messages[-1]:
                return self.messages[-1]


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    path = tmp_path / 'notify'
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(path))
        monkeypatch.setenv('NOTIFY_SOCKET', str(path))
        monkeypatch.setenv('WATCHDOG_USEC', '1200000000')
        monkeypatch.delenv('WATCHDOG_PID', raising=False)
        yield Systemd(heard)


def report(cli, daemon):
    """Ask for a report; return its text."""
    said = daemon.said.count('the report is in')
    daemon.process.send_signal(signal.SIGUSR2)
    daemon.wait_for('the report is in', times=said + 1)
    return (cli.state_path / 'report.txt').read_text()


def test_it_tells_systemd_of_its_life(cli, daemon, systemd):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    assert systemd.wait_for('READY=1')[-1] == 'WATCHDOG_USEC=4800000000'
    alive = systemd.wait_for('WATCHDOG=1')
    assert ': 1 done, 0 waiting, 0 failed; ' in alive[1]
    one.process.send_signal(signal.SIGHUP)
    systemd.wait_for('RELOADING=1')
    systemd.wait_for('READY=1')
    systemd.wait_for('WATCHDOG=1')
    assert one.end() == 0, one.said
    assert systemd.wait_for('STOPPING=1') == [
        'STOPPING=1',
        'STATUS=stops: SIGTERM requested it',
    ]


@pytest.mark.long
def test_an_outage_is_a_cycle_that_finished(cli, daemon, systemd, unused_port):
    cli.configure({'endpoint': f'http://127.0.0.1:{unused_port}'})
    daemon(cli.config)
    alive = systemd.wait_for('WATCHDOG=1')
    assert alive[1].endswith('; the last good cycle: none')
    assert f'127.0.0.1:{unused_port}' in alive[1]


def test_a_cycle_that_hangs_feeds_no_watchdog_and_can_be_looked_at(
    cli, daemon, systemd, hanging_port
):
    cli.configure(
        {
            'endpoint': f'http://127.0.0.1:{hanging_port.number}',
            'timeout': 3600,
        }
    )
    one = daemon(cli.config)
    hanging_port.wait_for_a_connection()
    text = report(cli, one)
    assert 'a cycle runs since ' in text
    assert 'last: no cycle has finished yet' in text
    _, _, threads = text.partition('Threads, ')
    _, _, cycles = threads.partition('\n  cycles\n')
    assert 'resource_tracker.py' in cycles.partition('\n  signals\n')[0]
    assert one.end() == 0, one.said
    systemd.wait_for('STOPPING=1')
    assert not any('WATCHDOG=1' in message for message in systemd.messages)


def test_a_report_has_each_node_and_no_secret(cli, daemon):
    address = cli.url.removeprefix('http://')
    cli.configure(
        {'endpoint': f'http://agent:secret@{address}'},
        update_resources_interval=3600,
    )
    cli.others.create('99999999-9999-4999-8999-999999999999', 'cn1')
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    text = report(cli, one)
    assert 'no cycle runs now' in text
    assert 'Nodes:\n  cn1 (11111111-1111-4111-8111-111111111111): ' in text
    assert 'secret' not in text
    file = cli.state_path / 'report.txt'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.long
def test_a_report_that_cannot_be_written_is_one_line(cli, daemon):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    (cli.state_path / 'report.txt').mkdir()
    one.process.send_signal(signal.SIGUSR2)
    one.wait_for('the report cannot be written: ')
    one.process.send_signal(signal.SIGHUP)
    one.wait_for('reloaded')  # signals still count
    assert 'Traceback' not in one.said
