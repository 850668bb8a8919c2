# SPDX-License-Identifier: Apache-2.0
"""No exception of a driver ends the agent, of whatever class it is.

``sys.exit``, a cancelled task of asyncio and a KeyboardInterrupt that no signal
caused are errors of the driver, wherever they are. The commands run in processes of their own, beside an installed package.
"""

import command_line
import installed_package
import pytest

pytestmark = pytest.mark.long

CANCELLED = "asyncio.CancelledError('no task')"

DRIVER = """
import asyncio
import os

from compute_agent.virt import driver

WHERE = os.environ['EXITS_IN']


def leave(where):
    if where == WHERE:
        raise eval(os.environ.get('RAISES', 'SystemExit(0)'))


leave('import')


class Quitter(driver.ComputeDriver):
    @classmethod
    def register_opts(cls, conf):
        leave('register_opts')

    @classmethod
    def from_conf(cls, conf):
        leave('from_conf')
        return cls()

    @property
    def authority(self):
        leave('authority')
        return ()

    def subscribe(self, wake):
        leave('subscribe')

    def close(self):
        leave('close')

    def get_available_nodes(self):
        leave('get_available_nodes')
        return ['cn1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        leave('update_provider_tree')
        tree.declare_inventory(nodename, {'VCPU': {'total': 4}})
"""


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """An installed package with the driver."""
    installed_package.install(
        tmp_path / 'site',
        'quitters',
        points='[compute_agent.drivers]\nquitter = quitters:Quitter\n',
        modules={'quitters': DRIVER},
    )
    monkeypatch.setenv('PYTHONPATH', str(tmp_path / 'site'))


def run(cli, *words, where, raises='SystemExit(0)'):
    cli.configure(compute_driver='quitter')
    return cli.process(*words, EXITS_IN=where, RAISES=raises)


@pytest.mark.parametrize(
    ('where', 'raises', 'said'),
    [
        ('import', 'SystemExit(0)', 'driver quitter'),
        ('from_conf', "SystemExit('no rack')", 'SystemExit: no rack'),
        ('get_available_nodes', CANCELLED, 'Quitter cannot list its nodes'),
        ('update_provider_tree', 'SystemExit(2)', 'Quitter failed for cn1'),
        ('close', CANCELLED, 'Quitter failed'),
    ],
)
def test_a_command_ends_with_a_line_about_the_driver(cli, where, raises, said):
    done = run(cli, 'sync', where=where, raises=raises)
    assert done.returncode == 1, done
    told = [x for x in (done.stdout + done.stderr).splitlines() if said in x]
    assert len(told) == 1, done
    assert 'Traceback' not in done.stderr
    assert where in told[0]


def test_the_check_of_a_driver_fails(cli):
    where = 'get_available_nodes'
    done = run(cli, 'driver', 'check', 'quitter', where=where)
    assert done.returncode == 1, done
    assert 'SystemExit: 0' in done.stdout + done.stderr


@pytest.mark.parametrize(
    'raises',
    ['SystemExit(0)', CANCELLED, 'KeyboardInterrupt()', 'GeneratorExit()'],
)
def test_the_daemon_lives_on(cli, daemon, monkeypatch, raises):
    monkeypatch.setenv('EXITS_IN', 'update_provider_tree')
    monkeypatch.setenv('RAISES', raises)
    cli.configure(compute_driver='quitter', update_resources_interval=3600)
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for('1 failed')
    assert 'Quitter failed for cn1' in one.said
    assert one.end() == 0
    assert ' s: SIGTERM requested it' in one.said


@pytest.mark.parametrize(
    ('raises', 'said'),
    [
        ('SystemExit(0)', ': SystemExit: 0 in subscribe ('),
        (CANCELLED, ': CancelledError: no task in subscribe ('),
    ],
)
def test_the_daemon_does_not_start_with_success(cli, raises, said):
    done = run(cli, 'run', where='subscribe', raises=raises)
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.startswith(f'compute-agent: Quitter failed{said}')


ENDING = """
import asyncio, sys
from compute_agent.cmd.app import start
from compute_agent.cycle import garbage

def cancelled(self):
    raise asyncio.CancelledError('no task')

garbage.Collector.collect = cancelled
sys.exit(start.main())
"""


def test_a_daemon_that_ends_by_itself_fails_with_its_reason(cli, daemon):
    """So systemd restarts it."""
    one = daemon(cli.config, program=('-c', ENDING))
    one.wait_for('compute-agent stops after')
    assert one.process.wait() == 1
    assert ' s: no task\n' in one.said
