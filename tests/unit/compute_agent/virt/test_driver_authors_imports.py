# SPDX-License-Identifier: Apache-2.0
"""The paths that drivers import exist, and drivers import no others.

Both lists are read from the section "What a driver imports" of
``docs/drivers.md``.
"""

import ast
import importlib
import re

import public_surface
import pytest

TOP = public_surface.TOP
SECTION = public_surface.SECTION
STABLE = public_surface.STABLE
STATED = set(re.findall(r'`(compute_agent\.[\w.]+)`', SECTION))
DRIVERS = sorted((TOP / 'drivers').rglob('*.py'))
RACK = TOP / 'tests/packages/rack_driver/rack_driver.py'


def imported(path):
    """Return the modules of the agent that a file imports."""
    for statement in ast.walk(ast.parse(path.read_text('utf-8'))):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            for alias in statement.names:
                yield f'{statement.module}.{alias.name}'


def of_the_agent(path):
    return {m for m in imported(path) if m.startswith('compute_agent')}


def test_the_section_lists_the_contract_the_errors_and_the_tree():
    assert set(STABLE) == {
        'compute_agent.errors',
        'compute_agent.testing',
        'compute_agent.tree.provider_tree',
        'compute_agent.virt.driver',
        'compute_agent.virt.values.changes',
        'compute_agent.virt.values.finding',
        'compute_agent.virt.values.cloud_nodes',
        'compute_agent.virt.values.host_facts',
        'compute_agent.virt.values.requested',
        'compute_agent.virt.values.rule_results',
    }
    assert all(STABLE.values())


@pytest.mark.parametrize(
    ('module', 'name'),
    [(module, name) for module, names in STABLE.items() for name in names],
)
def test_each_stated_name_is_in_its_module(module, name):
    assert getattr(importlib.import_module(module), name) is not None


@pytest.mark.parametrize(
    'path', DRIVERS, ids=lambda path: str(path.relative_to(TOP))
)
def test_a_shipped_driver_imports_stated_modules_only(path):
    assert of_the_agent(path) <= STATED


def test_all_stated_modules_are_used_by_a_shipped_driver():
    used = set().union(*map(of_the_agent, DRIVERS))
    # The contract class of programs is a test that the package has.
    tests = {m for m in STATED if 'compute_agent.testing' in m}
    assert used - tests == STATED - tests


def test_a_driver_of_another_package_needs_stable_modules_only():
    assert of_the_agent(RACK) <= set(STABLE)
