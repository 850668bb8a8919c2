# SPDX-License-Identifier: Apache-2.0
"""The fixtures of all tests; they live in ``tests/support``."""

import collections
import gc
import importlib
import importlib.util
import pathlib
import signal
import sys

import hypothesis
import pytest

HERE = pathlib.Path(__file__).parent
SUPPORT = HERE / 'support'

# Test folders are no packages, so shared modules are found by path.
sys.path.insert(0, str(SUPPORT))

# Pytest rewrites the asserts of a module when it is imported, so all shared
# modules are registered before a test file imports the first of them.
pytest.register_assert_rewrite(*(path.stem for path in SUPPORT.glob('*.py')))

# All plugins are named here and none in a test file: a plugin stays for the
# whole session, so the files after that one would depend on it.
pytest_plugins = [
    'agents',
    'author_environment',
    'capped_placement',
    'cloud_services',
    'command_line',
    'database_fixture',
    'fleet_members',
    'ironic_agents',
    'ironic_fixture',
    'leaks',
    'libvirt_fixture',
    'placement_api',
    'placement_fixture',
    'running_daemon',
    'vgpu_cloud',
]

# How long an example takes says nothing of the code on a busy machine.
hypothesis.settings.register_profile(
    'tests',
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile('tests')

# A shell in the background, or nohup, has these ignored, and what a test starts
# would inherit that: then no signal would end it.
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


def _make_importable(name: str) -> None:
    """Make a package of the checkout importable by itself.

    The wheel has no benchmarks, demo and docs. The directory above them must
    not be on the path, because a test of the wheel would import the checkout's
    packages.
    """
    folder = HERE.parent / name
    spec = importlib.util.spec_from_file_location(
        name,
        folder / '__init__.py',
        submodule_search_locations=[str(folder)],
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)


for _name in ('benchmarks', 'demo', 'docs'):
    if _name not in sys.modules:
        _make_importable(_name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of ``make test-planted``."""
    parser.addoption(
        '--planted',
        action='store_true',
        help='run the tests that must notice planted defects, with them',
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark the cases ``long`` that ``long_except`` leaves out.

    Properties run without the measurement of coverage, which doubles their time:
    the others reach the same lines.
    """
    _mark_long(items)
    if config.pluginmanager.hasplugin('_cov'):
        for item in items:
            function = getattr(item, 'function', None)
            if getattr(function, 'is_hypothesis_test', False):
                item.add_marker(pytest.mark.no_cover)


def _mark_long(items: list[pytest.Item]) -> None:
    turns = collections.Counter[str]()
    for item in items:
        mark = item.get_closest_marker('long_except')
        if mark is not None:
            test = item.nodeid.partition('[')[0]
            if turns[test] % mark.kwargs['every']:
                item.add_marker(pytest.mark.long)
            turns[test] += 1


def pytest_collection_finish() -> None:
    """Take what is there before the first test out of Python's collections.

    Tests and imports are some million objects that stay to the end. To look
    through them again and again took a good part of the whole run.
    """
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks; load the hooks that plant defects, if asked to."""
    config.addinivalue_line(
        'markers', 'long: takes long and is left out of "make test"'
    )
    config.addinivalue_line(
        'markers',
        'long_except(every): "make test" tries every such case of the '
        'parameters only, from the first on; the others are long',
    )
    config.addinivalue_line(
        'markers',
        'catches(defect, case=None): fails if this defect is planted; see '
        'tests/mutation/planted',
    )
    if config.getoption('--planted'):
        sys.path.insert(0, str(HERE / 'mutation'))
        config.pluginmanager.register(importlib.import_module('planting'))
