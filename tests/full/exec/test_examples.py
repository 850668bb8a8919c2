# SPDX-License-Identifier: Apache-2.0
"""The example drivers in shell and Go keep the contract, and run as nobody.

It needs ``$(make exec-packages)``, and root for the other user.
"""

import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys

import pytest

from compute_agent import testing
from drivers.exec import driver, program

AGENT = pathlib.Path(sys.executable).with_name('compute-agent')
EXAMPLES = pathlib.Path(__file__).parents[3] / 'etc' / 'exec'


@pytest.fixture
def folder(tmp_path):
    """A folder that every user may read, below none that is private."""
    made = pathlib.Path('/var/tmp') / f'compute-agent-{os.getpid()}'
    made.mkdir()
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def checked(path):
    """Return the rules that are broken, and the number of those that hold."""
    done = subprocess.run(
        [AGENT, 'driver', 'check', f'exec:{path}', '-f', 'json'],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = json.loads(done.stdout)
    return (
        [row['Reason'] for row in rows if row['Result'] == 'failed'],
        sum(row['Result'] == 'passed' for row in rows),
    )


def copied(name, folder):
    for file in (name, f'{name}.world'):
        shutil.copy(EXAMPLES / file, folder)
    return folder / name


def built(folder):
    """Return the path of the built Go program, with its world beside it."""
    source = EXAMPLES / 'sleds'
    shutil.copy(source / 'sleds.world', folder)
    subprocess.run(
        ['go', 'build', '-o', str(folder / 'sleds'), 'main.go'],
        cwd=source,
        env={
            **os.environ,
            'GOCACHE': str(folder / 'go'),
            'GOFLAGS': '-mod=mod',
        },
        check=True,
    )
    return folder / 'sleds'


def test_the_driver_in_shell_keeps_the_contract(folder):
    broken, held = checked(copied('local-disks', folder))
    assert not broken
    assert held >= 25


def test_the_driver_in_go_keeps_the_contract(folder):
    broken, held = checked(built(folder))
    assert not broken
    assert held >= 26


def test_a_program_of_root_runs_as_nobody(folder):
    path = folder / 'who'
    path.write_text(
        '#!/bin/sh\n'
        '[ "$1" = describe ] || exit 3\n'
        'jq --arg who "$(id -un):$(id -gn):$(id -Gn)" '
        "'{version: 1, nodes: [{name: .node.name}], notes: [$who]}'\n"
    )
    path.chmod(0o755)
    run = program.Program(str(path), timeout=20, account=program.account(None))
    made = driver.ExecDriver.for_target(str(path))(run, 'cn1')
    with testing.Placement() as placement:
        (result,) = testing.sync(made, placement)
    nobody = pwd.getpwnam('nobody')
    assert os.geteuid() == 0, 'run this test as root'
    assert result.notes == (
        f'nobody:{group(nobody.pw_gid)}:{group(nobody.pw_gid)}',
    )


def group(number):
    done = subprocess.run(
        ['getent', 'group', str(number)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.partition(':')[0]
