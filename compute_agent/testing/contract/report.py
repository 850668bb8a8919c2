# SPDX-License-Identifier: Apache-2.0
"""The published proof: the outcome of each rule, with all versions, as JSON.

A package ships it as ``driver-check.json`` beside the driver's module.
"""

import datetime as dt
import importlib.metadata
import platform
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ... import testing
from . import capability, making
from .rules import catalogue
from .runner import Status

#: The distributions whose versions decide what a rule finds.
_DISTRIBUTIONS = (
    'compute-agent',
    'openstack-placement',
    'os-traits',
    'os-resource-classes',
)

Row = Mapping[str, Any]


def report(
    driver: making.Driver,
    declared: Collection[capability.Capability],
    rows: Sequence[Row],
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
        'result': result(rows),
        'rules': [_rule(row) for row in rows],
    }


def result(rows: Sequence[Row]) -> dict[str, int]:
    """Return the number of rules of each status."""
    return {
        status.value: sum(row['status'] == status.value for row in rows)
        for status in Status
    }


def _rule(row: Row) -> dict[str, Any]:
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
