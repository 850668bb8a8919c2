# SPDX-License-Identifier: Apache-2.0
"""Runs the contract suite of an installed driver, as a command needs it.

The worlds of a suite are pytest fixtures, so this starts pytest in this
process, with nothing else to collect. ``compute-agent driver check`` calls it.
"""

import contextlib
import io
import os
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from .. import errors
from ..virt import driver as virt
from . import pytest_plugin, suite
from .contract import report
from .contract import world as worlds

_OPTIONS = (
    *('-c', os.devnull),
    *('-p', 'no:cacheprovider'),
    *('-p', f'no:{pytest_plugin.NAME}'),
    '--noconftest',
    '--quiet',
)
_FINE = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}

#: Called with the number of all rules, each time one of them is done.
Progress = Callable[[int], object]


def check(
    name: str,
    make: Callable[[], virt.ComputeDriver],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return the proof of a driver as data; see ``contract/report.py``.

    :param name: of the driver's entry point
    :param make: makes the driver from the configuration given, for a driver
        whose package names no contract class
    :raises errors.ConfigError: no such driver, a package is missing, or the
        world cannot be made
    """
    contract = pytest_plugin.contract_class(name) or _configured(name, make)
    gathered = _Gathered(contract, progress)
    said = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        code = pytest.main(
            [*_OPTIONS, f'--rootdir={folder}'], [pytest_plugin, gathered]
        )
    if gathered.problem:
        raise errors.ConfigError(
            f'driver {name} cannot be checked: {gathered.problem}'
        )
    if code not in _FINE or not gathered.rows:
        last = ' '.join(said.getvalue().split())[-300:]
        raise errors.ConfigError(
            f'the contract suite of driver {name} could not run: {last}'
        )
    return report.report(name, contract.capabilities, gathered.rows)


class _Gathered:
    """A pytest plugin that collects one contract class and its outcomes.

    :ivar rows: the outcome of each rule
    :ivar problem: why a rule could not be checked; empty if all could
    """

    def __init__(
        self, contract: type[suite.DriverContract], progress: Progress | None
    ) -> None:
        self._contract = contract
        self._progress = progress
        self._all = 0
        self.rows: list[dict[str, Any]] = []
        self.problem = ''

    def pytest_configure(self, config: pytest.Config) -> None:
        """Collect no file."""
        config.args = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Run the rules of the contract class."""
        items[:] = pytest_plugin.rules(session, self._contract)
        self._all = len(items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of a rule."""
        found = dict(report.user_properties).get(suite.OUTCOME)
        if report.failed and found is None:
            self.problem = self.problem or _line(report)
        if report.when != 'call' or found is None:
            return
        self.rows.append(dict(found))  # type: ignore[call-overload]
        if self._progress is not None:
            self._progress(self._all)


def _configured(
    name: str, make: Callable[[], virt.ComputeDriver]
) -> type[suite.DriverContract]:
    """Return the contract class of a driver that has none.

    Its world is the configuration that the command was given: it has no
    seams, and nothing changes in it.
    """

    @pytest.fixture
    def world(_self: object) -> worlds.World:
        return worlds.World(make=make)

    return type(
        'TestContract',
        (suite.DriverContract,),
        {'driver': name, 'world': world},
    )


def _line(report: pytest.TestReport) -> str:
    """Return the error of a report as one line."""
    crash = getattr(report.longrepr, 'reprcrash', None)
    text = crash.message if crash else report.longreprtext
    return ' '.join(text.split())
