# SPDX-License-Identifier: Apache-2.0
"""What a run ran on: the machine, how busy it was, and the versions."""

import datetime as dt
import importlib.metadata
import os
import pathlib
import platform
from collections.abc import Iterator

from . import agents

_SERVERS = agents.ROOT / '.servers'
_PEERS = (
    ('nova', _SERVERS / 'nova'),
    ('openstack_placement', _SERVERS / 'placement'),
)


def described() -> dict[str, str]:
    """Return it as it is now, by name."""
    now = dt.datetime.now(dt.UTC)
    pages = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
    memory = f'{pages / 2**30:.0f} GiB'
    return {
        'begun': f'{now:%Y-%m-%d %H:%M} UTC',
        'machine': f'{os.cpu_count()} of {_processor()}, {memory}',
        'Python': platform.python_version(),
        'compute-agent': importlib.metadata.version('compute-agent'),
        **dict(_versions()),
        'load before it began': f'{os.getloadavg()[0]:.1f} (0 is quiet)',
    }


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
