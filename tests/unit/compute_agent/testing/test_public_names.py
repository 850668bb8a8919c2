# SPDX-License-Identifier: Apache-2.0
"""``compute_agent.testing`` has the names that it lists, and is quick to import."""

import ast
import pathlib
import subprocess
import sys

import pytest

from compute_agent import testing

QUICK = """
import sys
from compute_agent import testing
assert testing.CONTRACT_VERSION
late = {'pytest', 'placement', 'oslo_config', 'compute_agent.tree'}
sys.exit(repr(late & set(sys.modules)) if late & set(sys.modules) else 0)
"""


def imported():
    """Return public name → module, as the imports for type checkers say it."""
    tree = ast.parse(pathlib.Path(testing.__file__).read_text('utf-8'))
    (checked,) = (one for one in tree.body if isinstance(one, ast.If))
    return {
        alias.asname: one.module
        for one in checked.body
        for alias in one.names
        if alias.name == alias.asname
    }


def test_type_checkers_and_programs_see_the_same_names():
    assert imported() == testing._MODULES


@pytest.mark.parametrize('name', testing._MODULES)
def test_each_name_is_in_its_module(name):
    assert name in dir(testing)
    assert getattr(testing, name) is not None


def test_another_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'Plaecment'"):
        testing.Plaecment  # noqa: B018


def test_the_module_alone_imports_nothing_else():
    found = subprocess.run(
        [sys.executable, '-c', QUICK],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
