# SPDX-License-Identifier: Apache-2.0
"""Root's commands beside a daemon of another user, and without one.

They reach the daemon, act as its user where there is none, and leave no file of
root in its directory.
"""

import json
import os
import pathlib
import site
import subprocess
import sys
import tempfile

import command_line
import pytest

import compute_agent

USER = 65534
GROUP = 50_123  # as SupplementaryGroups= of a unit gives it
# Another user cannot run a Python in root's home.
PYTHON = pathlib.Path('/usr/bin', f'python3.{sys.version_info.minor}')
PATH = ':'.join(
    [
        str(pathlib.Path(compute_agent.__file__).parents[1]),
        *site.getsitepackages(),
    ]
)
# Python runs this as root: it becomes the other user, and then the program.
_AS_USER = f"""
import os, sys
os.setgroups([{GROUP}])
os.setgid({USER})
os.setuid({USER})
os.chdir('/')
program = [{str(PYTHON)!r}, '-m', 'compute_agent.cmd.app.start']
environment = dict(os.environ, PYTHONPATH={PATH!r})
os.execve(program[0], [*program, *sys.argv[1:]], environment)
"""


def _why_not() -> str:
    """Return why no daemon of another user can be started; '' if one can."""
    if os.geteuid():
        return 'only root can start a daemon of another user'
    command = [sys.executable, '-c', _AS_USER, '--version']
    done = subprocess.run(command, capture_output=True, check=False)
    return f'no other user can run {PYTHON}' if done.returncode else ''


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(_why_not()), reason=_why_not() or 'it can'),
]


class Root:
    """Root's commands, each in a process of its own."""

    def __init__(self, cli):
        self.cli = cli

    def run(self, *words):
        done = subprocess.run(
            [
                *(PYTHON, '-m', 'compute_agent.cmd.app.start'),
                *('--config-file', self.cli.config, *words),
            ],
            env={**os.environ, 'PYTHONPATH': PATH},
            capture_output=True,
            text=True,
            check=False,
            cwd='/',
        )
        return command_line.Result(
            code=done.returncode, out=done.stdout, err=done.stderr
        )


@pytest.fixture
def cli(placement_server, capsys):
    """The command line in a folder that others may enter.

    Each run of pytest closes the folder of tmp_path to others again.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        yield command_line.CommandLine(folder, placement_server, capsys)


@pytest.fixture
def root(cli):
    """A state directory of another user."""
    cli.state_path.mkdir(mode=0o700)
    os.chown(cli.state_path, USER, USER)
    yield Root(cli)
    owners = {path.lstat().st_uid for path in cli.state_path.iterdir()}
    assert owners <= {USER}


@pytest.fixture
def running(root, daemon):
    one = daemon(root.cli.config, program=('-c', _AS_USER))
    one.wait_for('cycle: 1 done')
    return one


def test_sync_and_plan_reach_it_as_status_does(root, cli, running):
    assert root.run('status').code == 0
    cli.others.remove_traits(cli.providers()['cn1'], 'CUSTOM_GOLD')
    planned = root.run('plan')
    assert (planned.code, planned.err) == (2, '')
    assert '+CUSTOM_GOLD' in planned.out
    synced = root.run('sync')
    assert (synced.code, synced.err) == (0, '')
    assert root.run('plan').code == 0
    running.wait_for('root asks for a cycle')
    assert running.end() == 0


def test_a_yes_beside_it_is_root_s(root, cli, running):
    cli.others.create('22222222-1111-4111-8111-111111111111', 'cn2')
    cli.others.set_inventories(
        '22222222-1111-4111-8111-111111111111', {'VCPU': {'total': 8}}
    )
    text = cli.fake_file.read_text()
    cli.fake_file.write_text(
        f'{text}  - name: cn2\n'
        '    uuid: 22222222-1111-4111-8111-111111111111\n'
        '    inventories: {VCPU: 16}\n'
    )
    assert root.run('sync').code == 1
    agreed = root.run('sync', '--yes')
    assert (agreed.code, agreed.err) == (0, '')
    assert running.end() == 0


def test_a_command_that_needs_the_directory_names_the_daemon(root, running):
    refused = root.run('leave', '--yes')
    assert f'process {running.process.pid} uses' in refused.line
    assert 'stop the daemon first' in refused.line
    assert 'another' not in refused.line
    assert running.end() == 0


def test_without_a_daemon_root_acts_as_the_directory_s_user(root):
    synced = root.run('sync')
    assert (synced.code, synced.err) == (0, '')
    assert root.run('plan').code == 0
    rows = {
        row['check']: row
        for row in json.loads(root.run('doctor', '-f', 'json').out)
    }
    assert rows['state directory']['outcome'] == 'ok'
    assert root.run('leave', '--yes').code == 0


def test_a_daemon_of_root_is_refused_there(root):
    refused = root.run('run')
    assert refused.code == 1
    assert 'belongs to user nobody' in refused.err
    assert 'run it as user nobody' in refused.err
    assert 'another' not in refused.err


def test_root_acts_with_the_groups_of_the_user_and_of_its_daemon(
    root, cli, running
):
    """A unit's SupplementaryGroups= may open libvirt's socket."""
    told = (
        'import os, pathlib, sys\n'
        'from compute_agent.state.database import lock\n'
        'with lock.as_owner(pathlib.Path(sys.argv[1])):\n'
        '    print(os.geteuid(), os.getegid(), sorted(os.getgroups()))\n'
        'print(os.geteuid(), os.getegid())\n'
    )
    done = subprocess.run(
        [PYTHON, '-c', told, cli.state_path],
        env={**os.environ, 'PYTHONPATH': PATH},
        capture_output=True,
        text=True,
        check=True,
    )
    inside, after = done.stdout.splitlines()
    assert inside == f'{USER} {USER} {sorted({USER, GROUP})}'
    assert after == '0 0'
    assert running.end() == 0
