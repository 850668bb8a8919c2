# SPDX-License-Identifier: Apache-2.0
"""The demo, as a person runs it: a real Ironic, a real placement, the agent."""

import os
import re
import signal
import subprocess
import sys
import time

import ironic_fixture
import pytest
import requests

PATIENCE = 300  # seconds; only a hang takes as long


class Demo:
    """The command in a process of its own, in a folder of its own."""

    def __init__(self, folder, *words, program=ironic_fixture.PROGRAM):
        self._log = folder / 'demo.log'
        with self._log.open('wb') as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    '-m',
                    'demo',
                    '--directory',
                    'here',
                    *words,
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={
                    **os.environ,
                    'COMPUTE_AGENT_IRONIC': str(program),
                    'PYTHONPATH': str(ironic_fixture.ROOT),
                    'PYTHONUNBUFFERED': '1',
                },
            )

    @property
    def said(self):
        return self._log.read_text()

    def wait_for(self, pattern):
        """Return the match, once it has said this."""
        deadline = time.monotonic() + PATIENCE
        while (match := re.search(pattern, self.said)) is None:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.05)
        return match

    def end(self, number):
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def demo(tmp_path):
    """Start demos; what still runs at the end is killed."""
    running = []

    def start(*words, **how):
        running.append(Demo(tmp_path, *words, **how))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()


def _answers(url):
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=PATIENCE).ok
        except requests.ConnectionError:
            return False


def _wait_until_silent(url):
    """Wait for the end of a server whose main process ends first."""
    deadline = time.monotonic() + PATIENCE
    while _answers(url):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_once_and_then_for_as_long_as_wanted(demo, tmp_path):
    one = demo('--nodes', '6', '--once')
    assert one.process.wait(PATIENCE) == 0, one.said
    assert '6 nodes, 6 of them new' in one.said
    for name, count in (('GOLD', 2), ('SILVER', 3), ('BRONZE', 1)):
        assert one.said.count(f'CUSTOM_{name}: 1') == count
    (tmp_path / 'more.conf').write_text('[DEFAULT]\ndebug = true\n')
    one = demo('--nodes', '6', '--config-file', 'more.conf')
    ironic = one.wait_for(r'Ironic listens on (http://[\d.:]+)')[1]
    placement = one.wait_for(r'in step with .*(http://[\d.:]+);')[1]
    assert '6 nodes, 0 of them new' in one.said
    assert 'cycle: 6 done, 0 waiting, 0 failed; 0 operations' in one.said
    assert ' DEBUG ' in one.said
    for hint in ('ca plan', 'ca node stage rack1-node01 --property', ironic):
        assert hint in one.said
    assert _answers(ironic)
    assert one.end(signal.SIGINT) == 0, one.said
    assert 'Traceback' not in one.said
    _wait_until_silent(ironic)
    assert not _answers(placement)


def test_interrupted_while_it_starts_it_leaves_nothing_running(
    demo, ironic_home, tmp_path
):
    ironic_home(tmp_path / 'here' / 'ironic')
    one = demo('--nodes', '100')
    ironic = one.wait_for(r'Ironic listens on (http://[\d.:]+)')[1]
    assert one.end(signal.SIGTERM) == 130, one.said
    assert 'Traceback' not in one.said
    _wait_until_silent(ironic)


def test_without_an_ironic_it_says_so(demo, tmp_path):
    one = demo(program=tmp_path / 'none')
    assert one.process.wait(PATIENCE) == 1
    assert 'demo: no Ironic is installed here: ' in one.said
    assert 'Traceback' not in one.said
