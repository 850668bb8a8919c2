# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver list``: the installed drivers and their packages."""

import argparse
import importlib.metadata
from collections.abc import Iterator, Sequence
from typing import Any

from ... import errors, testing
from ...virt import loader
from ..app import configuration, listing
from . import last_check, shown_capabilities, source

OWN = 'compute-agent'
_WITH_NULL = {'json', 'yaml'}
# Driver → the package in which it looks for the module of a target first.
_BELOW = {'nova': 'nova.virt'}


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

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
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

        A broken configuration hides no driver: this command may be what mends
        it.
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
    capabilities = shown_capabilities.read(entry)
    yield [
        entry.name,
        configured.word(entry),
        'this package' if entry.distribution == OWN else 'another package',
        entry.target,
        entry.distribution,
        entry.version,
        capabilities,
        last_check.line(entry, testing.CONTRACT_VERSION),
    ]
    for name, target in configured.targets(entry):
        yield [*_target(entry, name, target), capabilities, last_check.NONE]


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
