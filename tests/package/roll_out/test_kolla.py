# SPDX-License-Identifier: Apache-2.0
"""Kolla's own program puts the agent's files into their places."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[3]
FOLDER = ROOT / 'packaging' / 'kolla'
PLACES = ('/etc', '/var/lib', '/var/log')
# Copies of these directories, in mounts that end with the program.
OWN_PLACES = """
set -e
for place in /var/lib/kolla /var/lib/compute-agent /var/log/kolla \
    /etc/compute-agent; do
    mkdir -p "$0$place"
done
for place in {places}; do
    mount --bind "$0$place" "$place"
done
exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason='only root mounts')
def test_kolla_copies_the_files_and_sets_their_owners(judge, tmp_path):
    etc = tmp_path / 'etc'
    etc.mkdir()
    (etc / 'passwd').write_text(
        'root:x:0:0::/root:/bin/sh\n'
        'compute-agent:x:4711:4711::/var/lib/compute-agent:/bin/sh\n'
    )
    (etc / 'group').write_text('root:x:0:\ncompute-agent:x:4711:\n')
    files = tmp_path / 'var/lib/kolla/config_files'
    files.mkdir(parents=True)
    (tmp_path / 'var/log/kolla/compute-agent').mkdir(parents=True)
    for name in ('config.json', 'compute-agent.conf'):
        shutil.copy(FOLDER / name, files)
    (files / 'nova.conf').write_text('[placement]\n')
    tools = ROOT / '.servers/roll-out'
    (program,) = tools.glob(
        'lib/*/site-packages/kolla/docker/base/set_configs.py'
    )
    ran = judge(
        *('unshare', '--mount', '--propagation', 'private', 'sh', '-c'),
        OWN_PLACES.format(places=' '.join(PLACES)),
        tmp_path,
        *('env', 'KOLLA_CONFIG_STRATEGY=COPY_ALWAYS'),
        *(tools / 'bin/python', program),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for name in ('compute-agent.conf', 'conf.d/nova.conf'):
        put = etc / 'compute-agent' / name
        assert put.stat().st_uid == 4711, ran.stderr
        assert put.stat().st_mode & 0o777 == 0o600
    logs = (tmp_path / 'var/log/kolla/compute-agent').stat()
    state = (tmp_path / 'var/lib/compute-agent').stat()
    assert logs.st_uid == state.st_uid == 4711


def test_the_log_is_where_kolla_looks_for_it():
    said = json.loads((FOLDER / 'config.json').read_text())
    (logs, _state) = said['permissions']
    conf = (FOLDER / 'compute-agent.conf').read_text()
    assert f'\nlog_file = {logs["path"]}/compute-agent.log\n' in conf


@pytest.mark.parametrize(('code', 'words'), [(0, ''), (1, '60')])
def test_the_health_check_asks_the_daemon(tmp_path, code, words):
    """The program is a stand-in, which tells what it was asked."""
    program = tmp_path / 'compute-agent'
    program.write_text(f'#!/bin/sh\necho "$@" >&2\nexit {code}\n')
    program.chmod(0o755)
    script = (FOLDER / 'healthcheck_compute_agent').read_text()
    script = script.replace('/opt/compute-agent/bin/', f'{tmp_path}/')
    ran = subprocess.run(
        ['sh', '-c', script, 'healthcheck', *words.split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code
    assert ran.stderr.strip().endswith(f'status --max-age {words or 1800}')
