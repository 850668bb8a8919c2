# SPDX-License-Identifier: Apache-2.0
"""The proof that a driver's package ships, as one line.

``compute-agent driver check NAME --json driver-check.json`` writes it. A
package ships it beside the driver's module. It says nothing of another version
of the driver or of the contract, and then counts as old.
"""

import json
import os
import pathlib
import stat
from typing import Any

from ... import error_text
from ...virt import loader
from . import source

FILE = 'driver-check.json'
NONE = 'none'

_LARGEST = 1024 * 1024  # bytes; a report has a line for each rule
_STATUSES = {'passed', 'failed', 'skipped', 'not tried'}


def line(entry: loader.Installed, contract: str) -> str:
    """Return the result of the last check with its date and versions.

    :param contract: the version of the contract now
    """
    module = source.file_of(entry.target.partition(':')[0])
    file = module.with_name(FILE) if module else None
    if file is None:
        return NONE
    try:
        report = json.loads(_content(file))
        if not _is_of(report, entry):
            return NONE
        return _line(report, entry, contract)
    except FileNotFoundError:
        return NONE
    except (OSError, ValueError) as exc:
        why = error_text.short(exc)
    except (LookupError, TypeError, AttributeError, RecursionError):
        why = 'it is no report of "driver check"'
    return f'unreadable: {file}: {why}'


def _content(file: pathlib.Path) -> bytes:
    """Return the content of a regular file that is not too large.

    :raises OSError: the file cannot be read
    :raises ValueError: it is not a regular file, or too large
    """
    with open(file, 'rb', opener=_without_waiting) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise ValueError('it is not a regular file')
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError('it is larger than 1 MiB')
    return content


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; without O_NONBLOCK, a named pipe would block the process."""
    return os.open(path, flags | os.O_NONBLOCK)


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
