# SPDX-License-Identifier: Apache-2.0
"""A driver that prints, hangs, or takes a signal, hinders nothing.

The commands run in processes of their own, beside an installed package.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import command_line
import installed_package
import pytest

DRIVER = """
import ctypes
import os
import pathlib
import signal
import subprocess
import time

from compute_agent.virt import driver

DOES = os.environ['DRIVER_DOES']
LIBC = ctypes.CDLL(None)


class Hindering(driver.ComputeDriver):
    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        if DOES == 'prints':
            print('from Python')
            subprocess.run(['echo', 'from a child'])
            LIBC.puts(b'from C')
            LIBC.fflush(None)
        return ['cn1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        tree.declare_inventory(nodename, {'VCPU': {'total': 4}})
        if DOES == 'ignores':
            ignored = 1
            for number in (signal.SIGTERM, signal.SIGINT):
                LIBC.signal(number, ctypes.c_void_p(ignored))
            pathlib.Path(os.environ['DONE']).touch()
        if DOES == 'hangs':
            while not pathlib.Path(os.environ['DONE']).exists():
                time.sleep(0.01)
"""
# The program, which soon says that a call takes long, and takes signals back.
_HASTY = """
import sys
from compute_agent.cmd.app import signals, start
from compute_agent.virt import long_calls

long_calls.LONG = signals._GUARDED = 0.1
sys.exit(start.main())
"""
HASTY = ('-c', _HASTY)


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """An installed package with the driver."""
    installed_package.install(
        tmp_path / 'site',
        'hindering',
        points='[compute_agent.drivers]\nhindering = hindering:Hindering\n',
        modules={'hindering': DRIVER},
    )
    monkeypatch.setenv('PYTHONPATH', str(tmp_path / 'site'))
    monkeypatch.setenv('DONE', str(tmp_path / 'done'))
    return tmp_path


def run(cli, *words, does):
    cli.configure(compute_driver='hindering')
    return cli.process(*words, DRIVER_DOES=does)


def test_a_driver_that_prints_does_not_spoil_the_results(cli):
    done = run(cli, 'plan', '-f', 'json', does='prints')
    assert done.returncode == 2, done
    assert json.loads(done.stdout)
    for text in ('from Python', 'from a child', 'from C'):
        assert text in done.stderr


def test_a_closed_pipe_is_still_no_error(cli):
    cli.configure(compute_driver='hindering')
    command = [
        *(sys.executable, '-m', 'compute_agent.cmd.app.start'),
        *('--config-file', str(cli.config), 'plan', '-f', 'json'),
    ]
    with subprocess.Popen(
        command,
        env={**os.environ, 'DRIVER_DOES': 'nothing'},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        said = process.stderr.read()
        code = process.wait(command_line.PATIENCE)
    assert said == ''
    assert code == 141


@pytest.fixture
def start(cli, daemon, monkeypatch):
    """Start the daemon whose driver does something."""

    def started(does):
        monkeypatch.setenv('DRIVER_DOES', does)
        cli.configure(
            compute_driver='hindering', update_resources_interval=3600
        )
        return daemon(cli.config, program=HASTY)

    return started


def test_a_library_of_a_driver_cannot_take_the_signals(start, site):
    one = start('ignores')
    one.wait_for('cycle: ')
    assert (site / 'done').exists()
    ignoring = f'/proc/{one.process.pid}/status'
    until = time.monotonic() + command_line.PATIENCE
    while ignores_sigterm(ignoring):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert one.end() == 0
    assert one.said.rstrip().endswith(' s: SIGTERM requested it')


def ignores_sigterm(status):
    lines = pathlib.Path(status).read_text('ascii').splitlines()
    (mask,) = [line for line in lines if line.startswith('SigIgn')]
    return bool(int(mask.split()[1], 16) & 1 << 14)


def test_a_call_that_hangs_is_said_and_its_end_too(start, site):
    one = start('hangs')
    one.wait_for('Hindering: update_provider_tree for node cn1 has not')
    (site / 'done').touch()
    one.wait_for('Hindering: update_provider_tree for node cn1 returned')
    one.wait_for('cycle: ')
    assert one.end() == 0
    assert one.said.count('node cn1 has not returned') == 1
