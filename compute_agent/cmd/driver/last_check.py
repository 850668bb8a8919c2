# SPDX-License-Identifier: Apache-2.0
"""The proof that a driver's package ships, as one line.

``compute-agent driver check NAME --json driver-check.json`` writes it. A
package ships it beside the driver's module. It says nothing of another version
of the driver or of the contract, and then counts as old.
"""

import json
import pathlib
from typing import Any

from ... import error_text
from ...virt import loader
from . import source

FILE = 'driver-check.json'
NONE = 'none'


def line(entry: loader.Installed, contract: str) -> str:
    """Return the result of the last check with its date and versions.

    :param contract: the version of the contract now
    """
    module = source.file_of(entry.target.partition(':')[0])
    file = module.with_name(FILE) if module else None
    if file is None or not file.exists():
        return NONE
    try:
        report = json.loads(file.read_bytes())
        if not _is_of(report, entry):
            return NONE
        return _line(report, entry, contract)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        return _unreadable(file, exc)


def _unreadable(file: pathlib.Path, exc: Exception) -> str:
    why = error_text.short(exc)
    if not isinstance(exc, OSError | ValueError):
        why = 'it is no report of "driver check"'
    return f'unreadable: {file}: {why}'


def _is_of(report: Any, entry: loader.Installed) -> bool:
    """Return False for the proof of another driver in the same folder."""
    driver: dict[str, str] = report['driver']
    return driver['class'] == entry.target or driver['name'] == entry.name


def _line(report: Any, entry: loader.Installed, contract: str) -> str:
    version, of_contract = report['driver']['version'], report['contract']
    outcome = f'{_outcome(report)} (contract {of_contract}, {_day(report)})'
    if version != entry.version:
        return f'old: of version {version}: {outcome}'
    if of_contract != contract:
        return f'old: of another contract than {contract}: {outcome}'
    return outcome


def _outcome(report: Any) -> str:
    rules = report['rules']
    broken = [row['number'] for row in rules if row['status'] == 'failed']
    skipped = sum(row['status'] == 'skipped' for row in rules)
    if broken:
        return f'failed: {", ".join(broken)} of {len(rules)} rules'
    return f'passed: {len(rules) - skipped} rules, {skipped} skipped'


def _day(report: Any) -> str:
    return str(report['checked_at']).partition('T')[0]
