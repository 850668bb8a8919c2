# SPDX-License-Identifier: Apache-2.0
"""A clean Debian in a directory, booted with its own systemd.

It needs root, mmdebstrap and systemd-nspawn, and the package that ``make deb``
built. The machine and its network are this host's, the rest is Debian's: no
Python, no file of this checkout. COMPUTE_AGENT_RELEASE names the release, which
must be the one that the package was built on. COMPUTE_AGENT_DEBIAN may name a
tar archive of a Debian with systemd, to begin with it instead of a new one.
"""

import os
import pathlib
import subprocess
from collections.abc import Iterator

import debian_machine
import pytest
from debian_machine import Machine

ROOT = pathlib.Path(__file__).parents[3]
BUILT = ROOT / 'build' / 'deb'
RELEASE = os.environ.get('COMPUTE_AGENT_RELEASE', 'bookworm')


def _unpack(directory: pathlib.Path) -> None:
    given = os.environ.get('COMPUTE_AGENT_DEBIAN')
    if given:
        directory.mkdir()
        command = ['tar', '-C', str(directory), '-xf', given]
    else:
        command = [
            'mmdebstrap', '--quiet', '--variant=minbase',
            '--aptopt=Acquire::Check-Valid-Until "false"',
            '--include=systemd,systemd-sysv',
            RELEASE, str(directory),
        ]  # fmt: skip
    subprocess.run(command, check=True)
    # Nothing here must survive a loss of power.
    settings = directory / 'etc' / 'dpkg' / 'dpkg.cfg.d'
    (settings / 'quick').write_text('force-unsafe-io\n')


@pytest.fixture(scope='session')
def deb() -> pathlib.Path:
    """The package."""
    (path,) = BUILT.glob('compute-agent_*-1_*.deb')
    return path


@pytest.fixture(scope='session')
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A clean Debian that has booted."""
    directory = tmp_path_factory.mktemp('debian') / 'root'
    _unpack(directory)
    with debian_machine.booted(directory) as made:
        yield made
