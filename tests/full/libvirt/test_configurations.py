# SPDX-License-Identifier: Apache-2.0
"""The driver's report for each configuration of the parity run.

Here nova-compute does not run, so this file compares with the report for the
default configuration. ``changes`` in a case says what is otherwise.
"""

import contextlib
import dataclasses
import pathlib
import sys

import pytest

from compute_agent import errors

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'parity'))

import cases
import differences
import reported

NO_PROVIDER = reported.Provider(
    parent=reported.ROOT,
    inventory={},
    traits=frozenset(),
    aggregates=frozenset(),
)
DEFAULTS = {}
KEYS = {'adds', 'removes', 'any', 'has', 'lacks', 'inventory'}


@pytest.fixture
def words(libvirtd, tmp_path):
    return cases.words(libvirtd.uri, tmp_path)


@pytest.fixture
def report(libvirt_host, tmp_path, words):
    """Report one case to an empty placement."""

    def report(name):
        conf = tmp_path / f'{name}.conf'
        case = cases.load(name, words)
        case.write(conf)
        libvirt_host.configure(conf.read_text())
        with contextlib.suppress(errors.ConfigError):
            libvirt_host.sync()
        try:
            return case, libvirt_host.report()
        finally:
            libvirt_host.empty()

    return report


@pytest.fixture
def default(report, libvirtd):
    """The report for the default configuration, made once for all cases."""
    if libvirtd.uri not in DEFAULTS:
        DEFAULTS[libvirtd.uri] = report(cases.DEFAULT)[1]
    return DEFAULTS[libvirtd.uri]


def changed(provider, changes, now):
    """Return the provider with these changes of the default case."""
    assert set(changes) <= KEYS, changes
    inventory = dict(provider.inventory)
    for rc, record in changes.get('inventory', {}).items():
        inventory[rc] = {**inventory.get(rc, {}), **(record or {})}
        if record is None:
            del inventory[rc]
    traits = provider.traits | set(changes.get('adds', ()))
    traits -= set(changes.get('removes', ()))
    either = tuple(changes.get('any', ()))
    traits = {t for t in traits if not t.startswith(either)}
    traits |= {t for t in now.traits if t.startswith(either)}
    traits |= set(changes.get('has', ()))
    traits -= set(changes.get('lacks', ()))
    return dataclasses.replace(
        provider, inventory=inventory, traits=frozenset(traits)
    )


@pytest.mark.parametrize('name', cases.names())
def test_each_configuration_is_reported_as_its_case_says(
    name, report, default
):
    case, now = report(name)
    expected = dict(default)
    for provider, changes in case.changes.items():
        expected[provider] = changed(
            expected.get(provider, NO_PROVIDER),
            changes,
            now.get(provider, NO_PROVIDER),
        )
    if case.refuses:
        expected = {}
    assert list(differences.differences(expected, now)) == []
