# SPDX-License-Identifier: Apache-2.0
"""No two modules of the tests have one name: a run may collect both folders.

Folders of tests are put on ``sys.path``, so the first of two modules with one
name is imported by both.
"""

import collections
import pathlib

TESTS = pathlib.Path(__file__).parents[1]


def is_package(folder):
    """Return True if its modules are imported by the folder's name."""
    is_tested = (folder / 'conftest.py').exists()
    return (folder / '__init__.py').exists() and not is_tested


def importable():
    """Yield each module and package that a test can import by its name."""
    for file in TESTS.rglob('*.py'):
        module = file.parent if file.name == '__init__.py' else file
        is_run = file.stem.startswith('test_') or file.stem == 'conftest'
        is_inside = is_package(module.parent)
        if not (is_run or is_inside or module == TESTS / 'mutation'):
            yield module


def test_no_two_helper_modules_of_tests_share_a_name():
    by_name = collections.defaultdict(list)
    for module in importable():
        by_name[module.stem].append(str(module.relative_to(TESTS)))
    assert len(by_name) > 100
    shared = [paths for paths in by_name.values() if len(paths) > 1]
    assert shared == []
