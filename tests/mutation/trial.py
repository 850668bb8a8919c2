# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree, and pytest in it: does a test fail?

The checkout is only read. ``Copy.run`` says how a run of chosen tests ended;
what is neither all well nor a failed test (a broken import, a test that is not
there) is no verdict and raises.
"""

import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
PACKAGES = ('compute_agent', 'drivers', 'report_client')
LONGEST = 300  # seconds that a run may take
_FAILED = re.compile(r'^(?:FAILED|ERROR) (.+?)(?: - |$)', re.MULTILINE)
_WHERE = 'import {0}; print({0}.__file__)'


class NoVerdict(Exception):
    """The tests could not be run, so nothing is known."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ended.

    :ivar failed: the first test that did, None if all passed
    """

    failed: str | None


class Copy:
    """A copy of the tree in a directory."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        shutil.copytree(
            ROOT,
            root,
            ignore=shutil.ignore_patterns(
                '.*', '__pycache__', '*.egg-info', 'build', 'dist', 'mutants'
            ),
            dirs_exist_ok=True,
        )
        self._check_imports()

    def read(self, file: str) -> str:
        """Return a file of the copy, whatever the checkout has by now."""
        return (self.root / file).read_text()

    def write(self, file: str, text: str) -> None:
        """Write a file of the copy, so that Python does not take the old one.

        A change within the same second and of the same size is not seen by it.
        """
        path = self.root / file
        path.write_text(text)
        cached = importlib.util.cache_from_source(str(path))
        pathlib.Path(cached).unlink(missing_ok=True)

    def run(self, tests: tuple[str, ...]) -> Ending:
        """Run these tests until one fails.

        :raises NoVerdict: it was neither
        """
        command = [
            *(sys.executable, '-m', 'pytest', '-x', '-q', '--tb=line'),
            *('-p', 'no:cacheprovider', *tests),
        ]
        try:
            done = self._do(command, LONGEST)
        except subprocess.TimeoutExpired:
            return Ending(failed=f'(not at its end in {LONGEST} s)')
        if done.returncode == 0:
            return Ending(failed=None)
        match = _FAILED.search(done.stdout)
        if done.returncode != 1 or match is None:
            raise NoVerdict(f'{done.stdout[-3000:]}{done.stderr[-1000:]}')
        return Ending(failed=match[1])

    def _do(
        self, command: list[str], longest: int
    ) -> 'subprocess.CompletedProcess[str]':
        return subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, 'PYTHONPATH': str(self.root)},
            capture_output=True,
            text=True,
            timeout=longest,
            check=False,
        )

    def _check_imports(self) -> None:
        """Make sure that it is the copy that is tested.

        From another directory, as a program that a test starts may be.

        :raises NoVerdict: it is not
        """
        for package in PACKAGES:
            code = f'import os; os.chdir("/"); {_WHERE.format(package)}'
            done = self._do([sys.executable, '-c', code], LONGEST)
            where = done.stdout.strip()
            if not where.startswith(f'{self.root}{os.sep}'):
                raise NoVerdict(
                    f'{package} is imported from {where or done.stderr}, not '
                    f'from the copy in {self.root}'
                )
