# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver list``: the installed drivers and their packages.

No driver is imported. The capabilities come from the source: the methods of the
driver's class, and the set ``capabilities`` of the contract class that its
package names. The last check is the proof that a package ships beside the
driver's module (``driver check NAME --json driver-check.json`` writes it).
"""

import argparse
import ast
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ... import deprecation, error_text, errors, file_trust
from ...testing.contract import capability
from ...virt import loader
from ..app import configuration, listing
from . import source

OWN = 'compute-agent'
_WITH_NULL = {'json', 'yaml'}
# Driver → the package in which it looks for the module of a target first.
_BELOW = {'nova': 'nova.virt'}
FILE = 'driver-check.json'
NONE = 'none'

_LARGEST = 1024 * 1024  # bytes; a report has a line for each rule
_STATUSES = {'passed', 'failed', 'skipped', 'not tried'}
CONTRACTS = 'compute_agent.driver_contracts'
_CONTRACT = 'ComputeDriver'


class DriverList(listing.Listing):
    """List the installed drivers, without importing any.

    "Capabilities" are what the source of a driver and of its contract class
    shows. "Last Check" is the result in the driver-check.json that the
    driver's package ships; it is old if it is of another version.
    """

    COLUMNS = (
        'Name',
        'Configured',
        'Origin',
        'Class',
        'Distribution',
        'Version',
        'Capabilities',
        'Last Check',
    )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return a row for each driver, and one for each configured target."""
        every = loader.installed()
        names, note = self._configured({entry.name for entry in every})
        configured = _Configured(names, every)
        unknown = None if parsed_args.formatter in _WITH_NULL else 'unknown'
        return (
            [
                [unknown if value is None else value for value in row]
                for entry in every
                for row in _rows(entry, configured)
            ],
            note,
            0,
        )

    def _configured(
        self, known: set[str]
    ) -> tuple[Sequence[str] | None, str | None]:
        """Return the configured drivers, and a note for the user.

        A broken configuration hides no driver, because this command may help
        to mend it.
        """
        try:
            conf = configuration.load(self.app.global_options, local=True)
        except errors.ConfigError as exc:
            return None, f'it is unknown which drivers are configured: {exc}'
        names = list(conf.compute_driver)
        absent = [n for n in names if n.partition(':')[0] not in known]
        note = (
            f'[DEFAULT] compute_driver names {", ".join(absent)}, which is '
            'not installed'
        )
        return names, note if absent else None


class _Configured:
    """The drivers that the configuration names; unknown if it is broken."""

    def __init__(self, names: Sequence[str] | None, every: Any) -> None:
        self._names = names
        # A driver may have several names.
        self._drivers = {
            (entry.target, entry.distribution)
            for entry in every
            if entry.name in (names or ())
        }

    def word(self, entry: Any) -> str | None:
        """Return yes or no, None if it is unknown."""
        if self._names is None:
            return None
        driver = (entry.target, entry.distribution)
        return 'yes' if driver in self._drivers else 'no'

    def targets(self, entry: Any) -> Iterator[tuple[str, str]]:
        """Yield the names with a target of this driver, and the targets."""
        for name in self._names or ():
            driver, _, target = name.partition(':')
            if target and driver == entry.name:
                yield name, target


def _rows(entry: Any, configured: _Configured) -> Iterator[list[Any]]:
    """Yield the row of an entry point, and of its configured targets."""
    shown = capabilities(entry)
    yield [
        entry.name,
        configured.word(entry),
        'this package' if entry.distribution == OWN else 'another package',
        entry.target,
        entry.distribution,
        entry.version,
        shown,
        last_check(entry, deprecation.CONTRACT_VERSION),
    ]
    for name, target in configured.targets(entry):
        yield [*_target(entry, name, target), shown, NONE]


def _target(entry: Any, name: str, target: str) -> list[Any]:
    """Return the first cells of a driver that another one runs, as nova's."""
    home = _home(entry.name, target)
    version = importlib.metadata.version(home) if home else None
    return [name, 'yes', f'{entry.name}:', target, home, version]


def _home(driver: str, target: str) -> str | None:
    """Return the distribution that has a target; None if it is unknown.

    :param driver: the driver that runs the target
    """
    module = target.rpartition('.')[0]
    if driver in _BELOW and source.file_of(f'{_BELOW[driver]}.{module}'):
        module = _BELOW[driver]
    known = importlib.metadata.packages_distributions()
    found = set(known.get(module.partition('.')[0], ()))
    return found.pop() if len(found) == 1 else None


def last_check(entry: loader.Installed, contract: str) -> str:
    """Return the result of the last check with its date and versions.

    :param contract: the version of the contract now
    """
    module = source.file_of(entry.target.partition(':')[0])
    file = module.with_name(FILE) if module else None
    if file is None:
        return NONE
    try:
        report = json.loads(file_trust.read(str(file), _LARGEST, named=True))
        if not _is_of(report, entry):
            return NONE
        return _report_line(report, entry, contract)
    except FileNotFoundError:
        return NONE
    except file_trust.Refused as exc:
        why = exc.strerror
    except (OSError, ValueError) as exc:
        why = error_text.short(exc)
    except (LookupError, TypeError, AttributeError, RecursionError):
        why = 'it is no report of "driver check"'
    return f'unreadable: {file}: {why}'


def _is_of(report: Any, entry: loader.Installed) -> bool:
    """Return False for the proof of another driver in the same folder."""
    driver: dict[str, str] = report['driver']
    return driver['class'] == entry.target or driver['name'] == entry.name


def _report_line(report: Any, entry: loader.Installed, contract: str) -> str:
    version, of_contract = report['driver']['version'], report['contract']
    outcome = f'{_outcome(report)} (contract {of_contract}, {_day(report)})'
    if _release(version) != _release(entry.version):
        return f'old: of version {version}: {outcome}'
    if of_contract != contract:
        return f'old: of another contract than {contract}: {outcome}'
    return outcome


def _release(version: str) -> str:
    """Return the release that a development version leads to."""
    return version.partition('.dev')[0]


def _outcome(report: Any) -> str:
    rules = report['rules']
    strange = sorted({str(row['status']) for row in rules} - _STATUSES)
    if strange:
        raise ValueError(
            f'{error_text.excerpt(strange[0])} is no status of a rule'
        )
    if not rules:
        raise ValueError('it has no rules')
    broken = [row['number'] for row in rules if row['status'] == 'failed']
    if broken:
        return f'failed: {", ".join(broken)} of {len(rules)} rules'
    passed, skipped, untried = (
        sum(row['status'] == status for row in rules)
        for status in ('passed', 'skipped', 'not tried')
    )
    outcome = f'passed: {passed} rules, {skipped} skipped'
    return f'{outcome}, {untried} not tried' if untried else outcome


def _day(report: Any) -> str:
    return str(report['checked_at']).partition('T')[0]


def capabilities(entry: loader.Installed) -> list[str] | None:
    """Return the names of the capabilities; None if there is no source."""
    classes = list(source.definitions(entry.target))
    if not classes:
        return None
    shown = {
        name: found.name for name, found in capability.METHODS.items()
    } | {'evidence': capability.Capability.EVIDENCE.name}
    own = {
        name
        for one in classes
        if one.name != _CONTRACT
        for statement in one.body
        for name in _methods(statement)
    }
    declared = set(_declared(entry.name))
    return sorted({shown[name] for name in own & shown.keys()} | declared)


def _methods(statement: ast.stmt) -> list[str]:
    """Return the names that a statement in a class gives to methods."""
    match statement:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return [name]
        case _:
            return []


def _declared(name: str) -> Iterator[str]:
    """Yield the capabilities in the contract class of a driver, if any."""
    for point in importlib.metadata.entry_points(group=CONTRACTS, name=name):
        for one in source.definitions(point.value):
            values = [v for v in map(_capabilities, one.body) if v is not None]
            if values:
                yield from _named(values[-1])
                return


def _capabilities(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id='capabilities')], value=value):
            return value
        case ast.AnnAssign(target=ast.Name(id='capabilities'), value=value):
            return value
        case _:
            return None


def _named(value: ast.expr) -> Iterator[str]:
    """Yield NAME of each ``Capability.NAME`` in an expression."""
    for node in ast.walk(value):
        match node:
            case ast.Attribute(
                attr=name,
                value=ast.Name(id='Capability')
                | ast.Attribute(attr='Capability'),
            ):
                yield name
