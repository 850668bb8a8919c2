# SPDX-License-Identifier: Apache-2.0
"""The checks of the state directory: its modes, its space, the daemon there.

Nothing is created: a first start creates what is missing.
"""

import contextlib
import os
import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from ... import error_text, errors, file_trust, private_files
from ...identity import nova_compute
from ...state import state
from ...state.database import lock, schema
from ..control import client, protocol
from ..wiring import agent_settings, placement
from . import finding
from .finding import Check, Finding

_PROGRAM = 'compute-agent'
_MODULE = 'compute_agent.cmd.app.start'
_MIB = 1 << 20
_LITTLE, _TOO_LITTLE = 200 * _MIB, 20 * _MIB


def checks(conf: cfg.ConfigOpts) -> list[Check]:
    """Return the checks."""
    folder = agent_settings.state_path(conf)
    return [
        Check(name='state directory', run=lambda: directory(folder)),
        Check(name='free space', run=lambda: space(folder)),
        Check(
            name='state database',
            run=lambda: readable(folder, placement.site(conf)),
        ),
        Check(name='daemon', run=lambda: daemon(folder)),
        Check(name='other agents', run=lambda: other_agents(folder)),
    ]


def directory(folder: pathlib.Path) -> Finding:
    """Report if this user can write to the directory, and nobody else.

    Root's commands act as the user of the directory, and so does this check.
    """
    with lock.as_owner(folder):
        return _directory(folder)


def _directory(folder: pathlib.Path) -> Finding:
    try:
        there = _nearest(folder)
        if there == folder:
            private_files.check_directory(folder)
    except PermissionError:
        there = folder
    except OSError as exc:
        return finding.failed(
            f'{folder} cannot be used: {exc.strerror}',
            'correct it, or set another [compute_agent] state_path',
        )
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=True):
        return finding.failed(
            f'{there} cannot be written by {file_trust.user(os.geteuid())}',
            "run the command as the daemon's user or as root, or mount the "
            'file system for writing',
        )
    if there != folder:
        return finding.ok(f'{folder} does not exist; the first start makes it')
    return _owners(folder)


def _owners(folder: pathlib.Path) -> Finding:
    """Report files whose owner is not the directory's."""
    owner = folder.stat().st_uid
    others = sorted(
        path.name for path in folder.iterdir() if path.lstat().st_uid != owner
    )
    if others:
        name = file_trust.user(owner)
        return finding.failed(
            f'{folder} belongs to {name}, and these files in it do not: '
            f'{", ".join(others)}',
            f'run "chown {name.removeprefix("user ")}" on them, and run every '
            'command as that user',
        )
    if owner != os.geteuid():
        name = file_trust.user(owner).removeprefix('user ')
        return finding.warning(
            f'{folder} belongs to {name}, and this is '
            f'{file_trust.user(os.geteuid())}',
            f'run every command as {name}: sudo -u {name} compute-agent doctor',
        )
    return finding.ok(f'{folder} belongs to {file_trust.user(owner)}')


def space(folder: pathlib.Path) -> Finding:
    """Report the free space of the directory's file system."""
    there = _nearest(folder)
    free = shutil.disk_usage(there).free
    said = f'{free // _MIB} MiB are free at {there}'
    fix = 'free some space: without it, the agent can record no write'
    if free < _TOO_LITTLE:
        return finding.failed(said, fix)
    return finding.warning(said, fix) if free < _LITTLE else finding.ok(said)


def readable(folder: pathlib.Path, site: str) -> Finding:
    """Report if the state database can be read."""
    path = folder / schema.FILE_NAME
    if not private_files.exists(path):
        return finding.ok('there is none yet; the first start makes it')
    with contextlib.closing(state.State.open_copy(folder, site)):
        return finding.ok(f'{path} is readable')


def daemon(folder: pathlib.Path) -> Finding:
    """Report the daemon that runs, and the age of its last cycle."""
    request = protocol.Request(command=protocol.Command.STATUS, nodes=())
    try:
        data = client.only(folder, request).data
    except client.NoDaemon:
        return finding.ok('no daemon runs with this state directory')
    except errors.Unavailable as exc:
        return finding.warning(str(exc), 'restart the daemon if this lasts')
    return _found(data)


def _found(data: Mapping[str, Any]) -> Finding:
    """Return the finding about what the daemon wrote about itself."""
    said = f'it runs as process {data.get("process")}'
    cycle = data.get('cycle')
    if not cycle:
        return finding.ok(f'{said}; no cycle has finished yet')
    age = error_text.duration(float(cycle['age']))
    said += f'; its last cycle ended {age} ago'
    if cycle['trouble']:
        return finding.warning(f'{said}, with trouble', str(cycle['trouble']))
    return finding.ok(said)


def other_agents(
    folder: pathlib.Path, proc: pathlib.Path = nova_compute.PROC
) -> Finding:
    """Report a daemon on this host that has another state directory."""
    own = lock.holder(folder)
    others = [
        number
        for number in nova_compute.processes(proc, _PROGRAM, _MODULE)
        if number != own and _is_daemon(proc / number)
    ]
    if not others:
        return finding.ok('none is seen on this host')
    listed = ', '.join(others)
    return finding.warning(
        f'another compute-agent runs on this host (process {listed}), with '
        'another state directory',
        'stop one of them if both report the same nodes, because each would '
        'take the providers for those of another writer',
    )


def _is_daemon(process: pathlib.Path) -> bool:
    try:
        return b'run' in (process / 'cmdline').read_bytes().split(b'\0')
    except OSError:
        return False


def _nearest(folder: pathlib.Path) -> pathlib.Path:
    """Return the folder, or the nearest above it that exists."""
    return next(
        p for p in (folder, *folder.parents) if private_files.exists(p)
    )
