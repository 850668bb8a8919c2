# SPDX-License-Identifier: Apache-2.0
"""Runs the contract suite of an installed driver, as a command needs it.

The worlds of a suite are pytest fixtures, so this starts pytest, with nothing
else to collect, in a process of its own: the driver may end that one.
``compute-agent driver check`` calls it, and a package ships what it returns as
``driver-check.json`` beside the driver's module: the published proof, with the
outcome of each rule and all versions.
"""

import collections
import contextlib
import datetime as dt
import importlib.metadata
import io
import os
import platform
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import pytest

from .. import errors, testing
from ..virt import driver as virt
from . import own_process, pytest_plugin, suite
from .contract import capability, making, runner
from .contract import world as worlds
from .contract.rules import catalogue

_OPTIONS = (
    *('-c', os.devnull),
    *('-p', 'no:cacheprovider'),
    *('-p', f'no:{pytest_plugin.NAME}'),
    '--noconftest',
    '--quiet',
)
_FAILED = runner.Status.FAILED.value
_ADDOPTS = 'PYTEST_ADDOPTS'
#: The distributions whose versions decide what a rule finds.
_DISTRIBUTIONS = (
    'compute-agent',
    'openstack-placement',
    'os-traits',
    'os-resource-classes',
)
_FINE = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}

#: Called with the number of all rules, each time one of them is done.
Progress = Callable[[int], object]
_Row = Mapping[str, Any]


def check(
    name: str,
    make: Callable[[], virt.ComputeDriver],
    progress: Progress | None = None,
    slow: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Return the proof of a driver as data.

    :param name: the name of the driver's entry point
    :param make: makes the driver from the configuration given, for a driver
        whose package names no contract class
    :param slow: called every few seconds with a line about the rule that runs
    :raises errors.ConfigError: no such driver, a package is missing, or the
        world cannot be made, or the driver without a world of its own
    :raises errors.DriverError: the driver ended the process
    :raises KeyboardInterrupt: SIGINT came
    """
    at = 'before the first rule'

    def hear(told: Any) -> None:
        nonlocal at
        if isinstance(told, str):
            at = f'at {told}'
        elif isinstance(told, list):
            if slow is not None:
                slow(*told)
        elif progress is not None:
            progress(told)

    try:
        found: dict[str, Any] = own_process.run(
            lambda tell: _checked(name, make, tell), hear
        )
    except own_process.Ended as exc:
        raise errors.DriverError(
            f'driver {name} ended the process that checked it, {exc}, {at}: '
            'it calls os._exit, or a library that it uses crashes; the daemon '
            'would end so, too, without a line in its log'
        ) from exc
    return found


def _checked(
    name: str, make: Callable[[], virt.ComputeDriver], tell: own_process.Tell
) -> dict[str, Any]:
    contract = suite.contract_class(name)
    if contract is None:
        _try(make)
        contract = _configured(name, make)
    return proof(name, contract, tell)


def proof(
    name: str, contract: type[suite.DriverContract], tell: own_process.Tell
) -> dict[str, Any]:
    """Return the proof of a driver by its contract class, in this process.

    :param tell: called when a rule is done, with the rule and the number of
        all rules
    :raises errors.ConfigError: the driver cannot be checked
    :raises KeyboardInterrupt: SIGINT came
    """
    _check_tests(name, contract)
    gathered = _Gathered(contract, tell)
    code, said = _run(gathered)
    if gathered.is_interrupted:
        raise KeyboardInterrupt
    if gathered.problem:
        raise errors.ConfigError(
            f'driver {name} cannot be checked: {gathered.problem}'
        )
    if code not in _FINE:
        last = ' '.join(said.split())[-300:]
        raise errors.ConfigError(
            f'the contract suite of driver {name} could not run: {last}'
        )
    _check_whole(name, gathered.rows)
    return _report(name, contract.capabilities, _once(gathered.rows))


def _run(gathered: '_Gathered') -> tuple[int, str]:
    """Run pytest; return its exit code, and what it printed.

    Its temporary folders are removed with ours.
    """
    said = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        _without_addopts(),
    ):
        own = [f'--rootdir={folder}', f'--basetemp={folder}/tests']
        try:
            code = pytest.main([*_OPTIONS, *own], [pytest_plugin, gathered])
        except Exception:
            # pytest's tmp_path fails if its test was interrupted.
            if not gathered.is_interrupted:
                raise
            code = pytest.ExitCode.INTERRUPTED
    return code, said.getvalue()


@contextlib.contextmanager
def _without_addopts() -> Iterator[None]:
    """Ignore the user's pytest options, because they may deselect rules."""
    given = os.environ.pop(_ADDOPTS, None)
    try:
        yield
    finally:
        if given is not None:
            os.environ[_ADDOPTS] = given


def _check_tests(name: str, contract: type[suite.DriverContract]) -> None:
    """Check that a contract class has the tests of the suite.

    :raises errors.ConfigError: the class has other tests
    """
    if contract.test_rule is not suite.DriverContract.test_rule:
        raise errors.ConfigError(
            f'the contract class of driver {name}, {contract.__name__}, '
            'overrides test_rule, so that nobody knows what it checks: leave '
            'test_rule as it is'
        )


def _check_whole(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Check that each rule was run, once.

    :raises errors.ConfigError: a rule was not run once, so this is no proof
    """
    ran = collections.Counter(str(row['number']) for row in rows)
    wrong = sorted(n for n in {*ran, *catalogue.BY_NUMBER} if ran[n] != 1)
    if wrong:
        raise errors.ConfigError(
            f'the contract suite of driver {name} ran {wrong[0]} '
            f'{ran[wrong[0]]} times and not once, so it proves nothing '
            f'({len(wrong)} rules are concerned): look for a plugin of pytest '
            'or a mark of the contract class that selects tests'
        )


class _Gathered:
    """A pytest plugin that collects one contract class and its outcomes.

    :ivar rows: the outcome of each rule
    :ivar problem: why a rule could not be checked; empty if all could
    :ivar is_interrupted: True if SIGINT came
    """

    def __init__(
        self, contract: type[suite.DriverContract], tell: own_process.Tell
    ) -> None:
        self._contract = contract
        self._tell = tell
        self._all = 0
        self.rows: list[dict[str, Any]] = []
        self.problem = ''
        self.is_interrupted = False

    def pytest_configure(self, config: pytest.Config) -> None:
        """Collect no files, and report slow rules."""
        config.args = []
        config.stash[suite.SLOW] = lambda text: self._tell([text])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Replace what pytest collected by the rules of the contract class."""
        items[:] = pytest_plugin.rules(session, self._contract)
        self._all = len(items)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Tell the rule that is checked now."""
        self._tell(str(item.callspec.params['rule']))  # type: ignore[attr-defined]

    def pytest_keyboard_interrupt(
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> None:
        """Remember the interrupt; pytest does not raise it."""
        self.is_interrupted = isinstance(excinfo.value, KeyboardInterrupt)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of a rule."""
        found = dict(report.user_properties).get(suite.OUTCOME)
        if report.failed and found is None:
            self.problem = self.problem or _line(report)
        if report.when != 'call' or found is None:
            return
        self.rows.append(dict(found))  # type: ignore[call-overload]
        self._tell(self._all)


def _try(make: Callable[[], virt.ComputeDriver]) -> None:
    """Make the driver once: its refusal is one error, and no result of rules.

    :raises errors.ConfigError: the driver cannot be made
    """
    made = make()
    with contextlib.suppress(Exception):  # a rule checks this
        made.close()


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
    return ' '.join(text.removeprefix('Failed: ').split())


# --- the report ---------------------------------------------------------------


def _report(
    driver: making.Driver,
    declared: Collection[capability.Capability],
    rows: Sequence[_Row],
) -> dict[str, Any]:
    """Return the proof as data.

    :param rows: number, status, reason and notes of each rule
    """
    driver_class = making.driver_class(driver)
    has = {*declared, *capability.shown_by(driver_class)}
    return {
        'contract': testing.CONTRACT_VERSION,
        'driver': {
            'name': making.called(driver),
            'class': f'{driver_class.__module__}:{driver_class.__qualname__}',
            **_distribution(driver),
        },
        'versions': {
            'python': platform.python_version(),
            **{name: _version(name) for name in _DISTRIBUTIONS},
        },
        'checked_at': _now(),
        'capabilities': sorted(one.name for one in has),
        'result': _result(rows),
        'rules': [_rule(row) for row in rows],
    }


def _once(rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows, with each fault only in the row of its own rule.

    Most rules begin with a cycle, so a driver that breaks the rule about that
    breaks all of them by the same line.
    """
    own = {
        row['number']
        for row in rows
        if row['status'] == _FAILED and row['reason'].startswith(row['number'])
    }
    first: dict[str, str] = {}
    found: list[_Row] = []
    for row in rows:
        rule, _, fault = str(row['reason']).partition('): ')
        broken = rule.partition(' ')[0]
        is_of_another = broken in own and broken != row['number']
        cause = broken if is_of_another else row['number']
        if not is_of_another:
            cause = first.setdefault(fault, cause)
        if row['status'] == _FAILED and cause != row['number']:
            said = f'the check met what breaks {cause}: see there'
            status = runner.Status.NOT_TRIED.value
            found.append({**row, 'status': status, 'reason': said})
        else:
            found.append(row)
    return found


def _result(rows: Sequence[_Row]) -> dict[str, int]:
    """Return, by status, the number of rules."""
    return {
        status.value: sum(row['status'] == status.value for row in rows)
        for status in runner.Status
    }


def _rule(row: _Row) -> dict[str, Any]:
    return {
        'number': row['number'],
        'title': catalogue.BY_NUMBER[row['number']].title,
        'status': row['status'],
        'reason': row['reason'],
        'notes': list(row['notes']),
    }


def _distribution(driver: making.Driver) -> dict[str, str]:
    """Return the package that has the driver's entry point."""
    found = making.installed(driver)
    if found is None:
        return {'distribution': '', 'version': ''}
    return {'distribution': found.distribution, 'version': found.version}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ''


def _now() -> str:
    now = dt.datetime.now(dt.UTC)
    return now.isoformat(timespec='seconds')
