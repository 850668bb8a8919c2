# SPDX-License-Identifier: Apache-2.0
"""The report that SIGUSR2 requests, on a disk that hangs."""

import os
import signal
import threading

import pytest

from compute_agent.cmd.app import signals
from compute_agent.cmd.run import report, status

PATIENCE = 60  # seconds; only a hang takes as long
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2)


class Disk:
    """Takes no file until it is told to go on.

    :ivar asked: counts the files
    """

    def __init__(self):
        self.asked = threading.Semaphore(0)
        self.goes_on = threading.Event()
        self.paths = []

    def write_new(self, path, text, _mode):
        self.paths.append(path)
        self.asked.release()
        self.goes_on.wait(PATIENCE)
        path.write_text(text)


@pytest.fixture
def disk(monkeypatch):
    hangs = Disk()
    monkeypatch.setattr(report.private_files, 'write_new', hangs.write_new)
    yield hangs
    hangs.goes_on.set()


@pytest.fixture
def requests():
    """DaemonSignals that listen until the test ends."""
    before = {number: signal.getsignal(number) for number in NUMBERS}
    heard = signals.DaemonSignals()
    heard.listen()
    yield heard
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def written(tmp_path):
    return report.Report(tmp_path, status.DaemonStatus())


def test_a_stop_is_heard_while_the_report_cannot_be_written(
    disk, requests, written
):
    requests.report_with(written.request)
    os.kill(os.getpid(), signal.SIGUSR2)
    assert disk.asked.acquire(timeout=PATIENCE)
    os.kill(os.getpid(), signal.SIGTERM)
    assert requests.wait_for_stop(PATIENCE / 2)


def test_one_report_at_a_time_is_written(disk, written, tmp_path):
    for _ in range(3):
        written.request()
    assert disk.asked.acquire(timeout=PATIENCE)
    disk.goes_on.set()
    written._writer.join(PATIENCE)
    assert len(disk.paths) == 1
    assert 'Threads, the innermost' in (tmp_path / report.NAME).read_text()
    written.request()
    assert disk.asked.acquire(timeout=PATIENCE)
    written._writer.join(PATIENCE)
