# SPDX-License-Identifier: Apache-2.0
"""A server ends with its owner, even one that is interrupted at its start."""

import signal
import subprocess

import pytest

from demo import server_process


@pytest.fixture
def _ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, whatever another test has set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures('_ctrl_c')
def test_an_interrupt_at_the_start_leaves_nothing_running(
    monkeypatch, tmp_path
):
    started = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *words, **how):
            super().__init__(*words, **how)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, 'Popen', Interrupted)
    with (
        pytest.raises(KeyboardInterrupt),
        server_process.running(['sleep', '1000'], tmp_path / 'log'),
    ):
        pytest.fail('it goes on')
    assert [one.returncode is None for one in started] == [False]
