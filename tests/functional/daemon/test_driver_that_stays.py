# SPDX-License-Identifier: Apache-2.0
"""A driver's threads, children and handlers keep neither the process nor its
lock and ports.

The commands run in processes of their own, beside an installed package.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

import command_line
import installed_package
import pytest

DRIVER = """
import asyncio
import multiprocessing
import os
import signal
import threading
import time

from compute_agent.virt import driver

DOES = os.environ['DRIVER_DOES']


def wait():
    print(f'child {os.getpid()}', flush=True)
    time.sleep(3600)


def ignore():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


async def listens():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: None)
    loop.remove_signal_handler(signal.SIGTERM)


class Staying(driver.ComputeDriver):
    @classmethod
    def from_conf(cls, conf):
        if DOES == 'ignores':
            ignore()
        if DOES == 'listens':
            asyncio.run(listens())
        if DOES == 'resets':
            signal.set_wakeup_fd(-1)
        return cls()

    def subscribe(self, wake):
        if DOES == 'ignores later':
            ignore()
        if DOES == 'resets later':
            signal.set_wakeup_fd(-1)

    def close(self):
        if DOES == 'hangs':
            time.sleep(3600)

    def get_available_nodes(self):
        return ['cn1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        tree.declare_inventory(nodename, {'VCPU': {'total': 4}})
        if DOES == 'forks':
            context = multiprocessing.get_context('fork')
            context.Process(target=wait).start()
        if DOES == 'keeps a thread':
            threading.Thread(
                target=time.sleep, args=[3600], name='kept', daemon=False
            ).start()
"""
# The program, which soon ends without what a driver left behind.
_HASTY = """
import os
import sys
from compute_agent.cmd.app import start
from compute_agent.virt import drivers

if os.environ['DRIVER_DOES'] == 'hangs':
    drivers.CLOSING = 0.25
else:
    start.ENDING = 0.25
sys.exit(start.main())
"""
HASTY = ('-c', _HASTY)


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """An installed package with the driver."""
    installed_package.install(
        tmp_path / 'site',
        'staying',
        points='[compute_agent.drivers]\nstaying = staying:Staying\n',
        modules={'staying': DRIVER},
    )
    monkeypatch.setenv('PYTHONPATH', str(tmp_path / 'site'))


@pytest.fixture
def forked():
    """The pids of children, which are killed at the end."""
    pids = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def start(cli, daemon, monkeypatch, unused_port):
    """Start the daemon whose driver does something; return it after a cycle."""

    def started(does, **how):
        monkeypatch.setenv('DRIVER_DOES', does)
        cli.configure(
            compute_driver='staying',
            update_resources_interval=3600,
            agent={'metrics_bind': f'127.0.0.1:{unused_port}'},
        )
        one = daemon(cli.config, **how)
        one.wait_for('cycle: ')
        return one

    return started


def child_of(one):
    one.wait_for('child ')
    one.wait_for('cycle: ')  # the pid's line is whole by now
    return int(one.said.partition('child ')[2].split()[0])


def test_a_child_keeps_neither_the_lock_nor_the_port(
    cli, start, forked, unused_port
):
    one = start('forks')
    forked.append(child_of(one))
    assert one.end(signal.SIGKILL) == -signal.SIGKILL
    assert cli.run('status').code == 1  # nobody answers, and it is said
    later = start('nothing')
    url = f'http://127.0.0.1:{unused_port}/livez'
    with urllib.request.urlopen(url) as answer:
        assert json.load(answer)['status'] in {'ok', 'starting'}
    assert later.end() == 0
    os.kill(forked[0], 0)  # it lives on


def test_a_signal_to_a_child_is_the_child_s(start, forked):
    """multiprocessing ends its children with SIGTERM."""
    one = start('forks')
    pid = child_of(one)
    forked.append(pid)
    os.kill(pid, signal.SIGTERM)
    _wait_for_end_of(pid)
    forked.remove(pid)
    assert one.process.poll() is None
    assert one.end() == 0
    assert one.said.rstrip().endswith(' s: SIGTERM requested it')


@pytest.mark.long_except(every=5)
@pytest.mark.parametrize(
    'does', ['ignores', 'listens', 'resets', 'ignores later', 'resets later']
)
def test_a_driver_takes_no_signal_from_the_daemon(start, does):
    one = start(does)
    assert one.end() == 0
    assert one.said.rstrip().endswith(' s: SIGTERM requested it')


def test_a_thread_of_a_driver_does_not_keep_the_daemon(start):
    one = start('keeps a thread', program=HASTY)
    assert one.end() == 0
    assert one.said.rstrip().endswith(LEFT)


def test_a_child_does_not_keep_the_daemon(start, forked):
    """multiprocessing waits for its children at the exit."""
    one = start('forks', program=HASTY)
    forked.append(child_of(one))
    assert one.end() == 0
    assert one.said.rstrip().endswith(
        'compute-agent: a function at the exit still runs; the process ends '
        'without it'
    )


def _wait_for_end_of(pid):
    """Wait until a child ended; its parent need not have noticed."""
    until = time.monotonic() + command_line.PATIENCE
    while ') Z ' not in pathlib.Path(f'/proc/{pid}/stat').read_text():
        assert time.monotonic() < until
        time.sleep(0.02)


LEFT = (
    "compute-agent: the driver's thread 'kept' still runs; the process ends "
    'without it'
)
HANGS = (
    'compute-agent: Staying failed in close: it did not return within 0.25 s; '
    'the process ends without it'
)


@pytest.mark.parametrize(
    ('does', 'code', 'said'),
    [('keeps a thread', 0, LEFT), ('hangs', 1, HANGS)],
    ids=['thread', 'close'],
)
def test_a_command_ends_with_its_output(cli, monkeypatch, does, code, said):
    monkeypatch.setenv('DRIVER_DOES', does)
    cli.configure(compute_driver='staying')
    done = subprocess.run(
        [
            *(sys.executable, *HASTY),
            *('--config-file', str(cli.config), 'sync'),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=command_line.PATIENCE,
    )
    assert done.returncode == code, done
    assert done.stderr.splitlines() == [said]
    assert 'VCPU' in str(
        cli.placement(
            f'/resource_providers/{cli.providers()["cn1"]}/inventories'
        )
    )
    if not code:
        assert done.stdout.count('\n') > 3
