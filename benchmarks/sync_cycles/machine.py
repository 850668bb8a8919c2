# SPDX-License-Identifier: Apache-2.0
"""The conditions of a run: the machine, its load, and the versions."""

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
    """The earlier results have other conditions; the text names them."""


def described() -> dict[str, str]:
    """Return the current conditions, by name."""
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
    """Return the conditions of earlier results to which a run is added.

    :raises Other: the two runs cannot be compared
    """
    now = described()
    if now[_COMMIT] == _UNKNOWN or now[_COMMIT].endswith(_DIRTY):
        raise Other(f'the working tree is not a commit ({now[_COMMIT]})')
    for name in sorted((before.keys() | now.keys()) - {_BEGUN, _LOAD}):
        earlier, current = (
            known.get(name, _UNKNOWN) for known in (before, now)
        )
        if earlier != current:
            raise Other(f'{name} was {earlier}, and is {current}')
    both = {
        name: f'{before.get(name, _UNKNOWN)}; {now[name]}'
        for name in (_BEGUN, _LOAD)
    }
    return {**now, **both}


def _commit() -> str:
    """Return the measured commit, marked as dirty if files were edited."""
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
