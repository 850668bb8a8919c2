# SPDX-License-Identifier: Apache-2.0
"""Collects each test file alone, in a process of its own; prints what fails.

``python tests/collect_alone.py [FILE ...]``, or ``make collect``. A test file
must not depend on the files before it: on modules that they imported,
directories that they put on the path or plugins that they registered. The
fixtures of each test are looked up, but no fixture is set up and no test runs.

To start pytest for each file would take minutes. It starts once, with its
plugins and ``tests/conftest.py``, which belong to every test file. Then a fork
of that process collects each file.
"""

import gc
import os
import pathlib
import sys
import tempfile
import typing

import pytest

HERE = pathlib.Path(__file__).parent
# Without capture, because the forked processes would share its files; without
# Hypothesis's plugin, because that imports Hypothesis at the end of each run.
OPTIONS = (
    *('--setup-plan', '--capture=no', '-q'),
    *('-p', 'no:cacheprovider', '-p', 'no:hypothesispytest'),
)


class Collector:
    """A plugin that forks when pytest has started: a process for each file."""

    def __init__(self, files: list[pathlib.Path]) -> None:
        self._files = files
        self._running: dict[int, tuple[pathlib.Path, typing.IO[bytes]]] = {}
        self._failed = 0
        self.is_fork = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int | None:
        """Return the exit code, or None in a process that collects a file."""
        gc.freeze()  # the forked processes share all that was made so far
        for file in self._files:
            if len(self._running) == (os.cpu_count() or 1):
                self._wait()
            output = tempfile.TemporaryFile()  # noqa: SIM115 (closed later)
            process = os.fork()
            if not process:
                for number in (1, 2):
                    os.dup2(output.fileno(), number)
                config.args = [str(file)]
                self.is_fork = True
                return None
            self._running[process] = file, output
        while self._running:
            self._wait()
        count = len(self._files)
        sys.stdout.write(f'{count} files alone, {self._failed} failed\n')
        return 1 if self._failed else 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep one case of each test, because all have the same fixtures."""
        items[:] = {i.nodeid.partition('[')[0]: i for i in items}.values()

    def _wait(self) -> None:
        """Wait until a process ends; print its output if it failed."""
        process, status = os.wait()
        file, output = self._running.pop(process)
        code = os.waitstatus_to_exitcode(status)
        with output:
            if code:
                self._failed += 1
                output.seek(0)
                text = output.read().decode(errors='replace')
                sys.stdout.write(f'{text}\n{file} alone: exit code {code}\n\n')


def main() -> int:
    """Collect the files that are named, or all of them; return 0 if all can."""
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    collector = Collector(files or sorted(HERE.rglob('test_*.py')))
    code = pytest.main([*OPTIONS, str(HERE)], plugins=[collector])
    if collector.is_fork:
        # To take the interpreter apart would copy all that is shared.
        sys.stdout.flush()
        os._exit(code)
    return code


if __name__ == '__main__':
    sys.exit(main())
