# SPDX-License-Identifier: Apache-2.0
"""The files for systemd, as its own programs judge them; nothing is started."""

import pathlib
import shutil
import subprocess

import pytest

ETC = pathlib.Path(__file__).parents[3] / 'etc'
UNIT = ETC / 'compute-agent.service'
TEMPLATE = ETC / 'compute-agent@.service'
both = pytest.mark.parametrize('unit', [UNIT, TEMPLATE])
MOST_EXPOSED = 20  # tenths, of 100


def run(*command):
    """Run a program of systemd; return what it printed."""
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@both
def test_the_service_can_do_little_to_the_host(unit):
    run(
        'systemd-analyze',
        'security',
        '--offline=yes',
        '--no-pager',
        f'--threshold={MOST_EXPOSED}',
        str(unit),
    )


@both
def test_systemd_understands_every_line_of_the_unit(tmp_path, unit):
    text = unit.read_text()
    (start,) = [
        line for line in text.splitlines() if line.startswith('ExecStart=')
    ]
    copy = tmp_path / unit.name.replace('@', '@rack1')
    copy.write_text(text.replace(start, 'ExecStart=/bin/true'))
    said = run('systemd-analyze', 'verify', '--man=no', str(copy))
    assert str(copy) not in said


def test_it_makes_the_user_and_the_directories(tmp_path):
    (tmp_path / 'etc').mkdir()
    root = f'--root={tmp_path}'
    run('systemd-sysusers', root, str(ETC / 'compute-agent.sysusers'))
    users = (tmp_path / 'etc/passwd').read_text()
    assert 'compute-agent:' in users
    run(
        'systemd-tmpfiles',
        root,
        '--create',
        str(ETC / 'compute-agent.tmpfiles'),
    )
    state = tmp_path / 'var/lib/compute-agent'
    assert state.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize('name', ['User', 'Group', 'StateDirectory'])
def test_the_unit_and_the_files_beside_it_agree(name):
    assert f'{name}=compute-agent\n' in UNIT.read_text()


def test_the_template_differs_in_its_files_and_directories_alone():
    def lines(path):
        return {
            line
            for line in path.read_text().splitlines()
            if line and not line.startswith('#')
        }

    assert {
        line.partition('=')[0] for line in lines(UNIT) ^ lines(TEMPLATE)
    } == {
        'Description',
        'StateDirectory',
        'RuntimeDirectory',
        'ExecStart',
    }


def test_logrotate_understands_its_file(tmp_path):
    """It looks for files to rotate, and changes none."""
    if shutil.which('logrotate') is None:
        pytest.skip('logrotate is not installed')
    text = (ETC / 'compute-agent.logrotate').read_text()
    copy = tmp_path / 'compute-agent'
    copy.write_text(text.replace('    su compute-agent compute-agent\n', ''))
    copy.chmod(0o644)
    said = run('logrotate', '--debug', '--state', str(tmp_path / 's'), copy)
    assert 'error' not in said
    assert '/var/log/compute-agent/*.log' in said
