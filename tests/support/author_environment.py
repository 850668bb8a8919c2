# SPDX-License-Identifier: Apache-2.0
"""A virtual environment as a driver author has it: a plugin for pytest.

It sees the packages of the environment that runs the tests, so making it takes
no download and no second. A package that is installed in it is seen there only.
"""

import os
import pathlib
import subprocess
import sys
import sysconfig

import pytest

# Longer than any command takes on a busy machine.
PATIENCE = 1800
_PROGRAMS = {
    'compute-agent': 'compute_agent.cmd.app.start',
    'pytest': 'pytest',
}
# Like pip, but it asks no index: what a package depends on is there.
_PIP = """#!/bin/sh
command=$1
shift
exec {python} -m pip "$command" --no-index --no-deps \\
    --no-build-isolation --disable-pip-version-check "$@"
"""


class AuthorEnvironment:
    """A virtual environment with compute-agent, pip and pytest."""

    def __init__(self, folder: pathlib.Path) -> None:
        subprocess.run(
            [sys.executable, '-m', 'venv', '--without-pip', str(folder)],
            check=True,
        )
        self._programs = folder / 'bin'
        python = self._programs / 'python'
        seen = sysconfig.get_path('purelib')
        scheme = {'base': str(folder), 'platbase': str(folder)}
        own = pathlib.Path(sysconfig.get_path('purelib', vars=scheme))
        (own / 'seen.pth').write_text(
            f'import site; site.addsitedir({seen!r})\n'
        )
        for name, module in _PROGRAMS.items():
            self._add(name, f'#!/bin/sh\nexec {python} -m {module} "$@"\n')
        self._add('pip', _PIP.format(python=python))

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of a shell in which it is active."""
        kept = {k: v for k, v in os.environ.items() if k != 'PYTHONPATH'}
        path = f'{self._programs}{os.pathsep}{os.environ["PATH"]}'
        return {**kept, 'PATH': path, 'PYTHONUNBUFFERED': '1'}

    def run(
        self, command: str, folder: pathlib.Path
    ) -> subprocess.CompletedProcess[str]:
        """Run one command of a shell in this folder."""
        return subprocess.run(
            ['/bin/sh', '-c', f'exec {command}'],
            cwd=folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def start(
        self, command: str, folder: pathlib.Path
    ) -> subprocess.Popen[bytes]:
        """Start one command that runs on."""
        return subprocess.Popen(
            ['/bin/sh', '-c', f'exec {command}'],
            cwd=folder,
            env=self.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _add(self, name: str, text: str) -> None:
        program = self._programs / name
        program.write_text(text)
        program.chmod(0o755)


@pytest.fixture
def author(
    tmp_path: pathlib.Path,
) -> AuthorEnvironment:
    """A new virtual environment of a driver author."""
    return AuthorEnvironment(tmp_path / 'venv')
