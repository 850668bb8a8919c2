# SPDX-License-Identifier: Apache-2.0
"""What a run ran on: the machine, how busy it was, and the versions."""

import datetime as dt
import importlib.metadata
import os
import pathlib
import platform
import subprocess
from collections.abc import Iterator, Mapping

from . import agents

_SERVERS = agents.ROOT / '.servers'
_PEERS = (
    ('nova', _SERVERS / 'nova'),
    ('openstack_placement', _SERVERS / 'placement'),
)
_BEGUN, _LOAD = 'begun', 'load before it began'
_COMMIT, _UNKNOWN, _DIRTY = 'commit', 'unknown', '-dirty'


class Other(Exception):
    """Something else was measured, or elsewhere; the text says what."""


def described() -> dict[str, str]:
    """Return it as it is now, by name."""
    now = dt.datetime.now(dt.UTC)
    pages = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
    memory = f'{pages / 2**30:.0f} GiB'
    return {
        _BEGUN: f'{now:%Y-%m-%d %H:%M} UTC',
        'machine': f'{os.cpu_count()} of {_processor()}, {memory}',
        'Python': platform.python_version(),
        'compute-agent': importlib.metadata.version('compute-agent'),
        _COMMIT: _commit(),
        **dict(_versions()),
        _LOAD: f'{os.getloadavg()[0]:.1f} (0 is quiet)',
    }


def gone_on(before: Mapping[str, str]) -> dict[str, str]:
    """Return what a run that others are added to ran on, these now.

    :raises Other: what is measured now cannot be compared with it
    """
    now = described()
    if now[_COMMIT] == _UNKNOWN or now[_COMMIT].endswith(_DIRTY):
        raise Other(f'what is measured now is no commit ({now[_COMMIT]})')
    for name in sorted((before.keys() | now.keys()) - {_BEGUN, _LOAD}):
        was, is_now = before.get(name, _UNKNOWN), now.get(name, _UNKNOWN)
        if was != is_now:
            raise Other(f'{name} was {was}, and is {is_now}')
    both = {
        name: f'{before.get(name, _UNKNOWN)}; {now[name]}'
        for name in (_BEGUN, _LOAD)
    }
    return {**now, **both}


def _commit() -> str:
    """Return the commit that is measured, and whether it was edited."""
    words = ('describe', '--always', '--dirty', '--exclude', '*')
    try:
        said = subprocess.run(  # noqa: S603
            ['git', '-C', str(agents.ROOT), *words],  # noqa: S607
            capture_output=True,
            check=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return _UNKNOWN
    return said.stdout.strip()


def _versions() -> Iterator[tuple[str, str]]:
    for name, environment in _PEERS:
        paths = [str(p) for p in environment.glob('lib/*/site-packages')]
        for found in importlib.metadata.distributions(name=name, path=paths):
            yield name.replace('_', '-'), found.version


def _processor() -> str:
    info = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8')
    for line in info.splitlines():
        if line.startswith('model name'):
            return line.partition(':')[2].strip()
    return platform.machine()
