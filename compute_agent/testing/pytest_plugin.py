# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: ``pytest --compute-driver=NAME`` checks an installed driver.

Each pytest of an environment loads this module, so it imports the agent only
if the option is given. A package names its contract class, which knows the
driver's world, by an entry point of the driver's name in the group
``compute_agent.driver_contracts``.
"""

import pathlib
import sys
import types
import typing

import pytest

from .. import errors

#: The name of this plugin's entry point in the group ``pytest11``.
NAME = 'compute_agent'

if typing.TYPE_CHECKING:
    from . import suite


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup('compute-agent')
    group.addoption(
        '--compute-driver',
        metavar='NAME',
        help='Check the installed driver of this name against the contract of '
        'compute-agent. Without other arguments, run nothing else.',
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect nothing else unless the command line names files.

    The driver is looked for here, because with ``-n`` only the workers of
    pytest-xdist collect, and what they raise is lost.
    """
    name = config.getoption('--compute-driver')
    if name is None:
        return
    _contract(name)
    if config.args_source is not config.ArgsSource.ARGS:
        config.args = []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the rules of the driver's contract class."""
    name = config.getoption('--compute-driver')
    if name is not None:
        items[:0] = rules(session, _contract(name))


def _contract(name: str) -> 'type[suite.DriverContract]':
    """Return the contract class of the driver that the option names.

    :raises pytest.UsageError: the driver has no contract class
    """
    if not name.strip():
        raise pytest.UsageError('--compute-driver: give the name of a driver')
    from . import suite  # noqa: PLC0415 (each pytest loads this module)

    try:
        contract = suite.contract_class(name)
    except errors.ConfigError as exc:
        raise pytest.UsageError(f'--compute-driver: {exc}') from exc
    if contract is None:
        raise pytest.UsageError(
            f'--compute-driver: no entry point in the group {suite.GROUP} has the '
            f'name {name}: name the contract class of the driver in one, or '
            f'run "compute-agent driver check {name}", which makes the driver '
            'from the configuration'
        )
    return contract


def rules(
    session: pytest.Session, contract: type
) -> typing.Iterator[pytest.Item]:
    """Yield the tests of a contract class, as if its file was collected."""
    home = sys.modules.get(contract.__module__)
    file = getattr(home, '__file__', None) or __file__
    module = pytest.Module.from_parent(session, path=pathlib.Path(file))
    module.obj = home or types.ModuleType(contract.__module__)
    for node in module.collect():
        if getattr(node, 'obj', None) is contract:
            break
    else:
        node = pytest.Class.from_parent(module, name=contract.__name__)
        node.obj = contract
    yield from session.genitems(node)
