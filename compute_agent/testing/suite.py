# SPDX-License-Identifier: Apache-2.0
"""The contract suite: a pytest test for each rule of the contract.

A driver's author inherits ``DriverContract`` in a test file and gives it the
driver and its world. A package names its class by an entry point of the driver's
name, and ``contract_class`` finds it.
"""

import importlib.metadata
from collections.abc import Callable, Collection
from typing import ClassVar

import pytest

from .. import errors
from .contract import capability, making, runner, trial
from .contract import world as worlds
from .contract.rules import catalogue

#: The group of the entry points that name contract classes.
GROUP = 'compute_agent.driver_contracts'
#: The property of a test's report that has the outcome of a rule.
OUTCOME = 'compute_driver_rule'
#: The key under which a plugin leaves a function that takes a line about a
# slow rule.
SLOW = pytest.StashKey[Callable[[str], object]]()


class DriverContract:
    """One test for each rule; a test file inherits it.

    :cvar driver: the name of the driver's entry point, or its class
    :cvar capabilities: the capabilities that no method shows; see
        ``Capability``
    :cvar limit: a rule is broken if its check takes more seconds than this
    """

    driver: ClassVar[making.Driver]
    capabilities: ClassVar[Collection[capability.Capability]] = ()
    limit: ClassVar[float] = trial.SECONDS

    @pytest.fixture
    def world(self) -> worlds.World:
        """Return the world of the driver; a subclass returns its own."""
        return worlds.World()

    _slow: Callable[[str], object] | None = None

    @pytest.fixture(autouse=True)
    def _says_what_is_slow(self, request: pytest.FixtureRequest) -> None:
        """Say on the terminal which call a slow rule waits for."""
        terminal = request.config.pluginmanager.getplugin('terminalreporter')
        write = None if terminal is None else terminal.write_line
        self._slow = request.config.stash.get(SLOW, write)

    @pytest.mark.parametrize(
        'rule', catalogue.RULES, ids=[one.slug for one in catalogue.RULES]
    )
    def test_rule(
        self,
        rule: catalogue.Rule,
        world: worlds.World,
        record_property: Callable[[str, object], None],
    ) -> None:
        """Check one rule; a failure is one line, without a traceback."""
        problem = ''
        try:
            outcome = runner.check(
                rule,
                self.driver,
                worlds.checked(world),
                self.capabilities,
                self.limit,
                self._slow,
            )
        except errors.ConfigError as exc:
            problem = f'{rule} cannot be checked: {exc}'
        if problem:  # outside the except, or pytest prints both errors
            pytest.fail(problem, pytrace=False)
        record_property(
            OUTCOME,
            {
                'number': outcome.rule.number,
                'status': outcome.status.value,
                'reason': outcome.reason,
                'notes': list(outcome.notes),
            },
        )
        if outcome.status is runner.Status.FAILED:
            pytest.fail(outcome.reason, pytrace=False)
        if outcome.status is runner.Status.SKIPPED:
            pytest.skip(outcome.reason)
        if outcome.status is runner.Status.NOT_TRIED:
            pytest.skip(f'not tried: {outcome.reason}')


def contract_class(name: str) -> type[DriverContract] | None:
    """Return the contract class of an installed driver; None without one.

    :raises errors.ConfigError: no driver has the name, or its class cannot be
        imported, or is about another driver
    """
    found: type[DriverContract]
    driver = making.driver_class(name)
    plain, _, target = name.partition(':')
    points = importlib.metadata.entry_points(group=GROUP, name=plain)
    if not points:
        return None
    (point, *_) = points
    try:
        found = point.load()
    except Exception as exc:
        raise errors.ConfigError(
            f'the contract class of driver {name}, {point.value}, cannot be '
            f'imported: {type(exc).__name__}: {exc}'
        ) from exc
    if not (isinstance(found, type) and issubclass(found, DriverContract)):
        raise errors.ConfigError(
            f'the entry point {name} in {GROUP} names {point.value}, which is '
            'no contract class: name a subclass of '
            'compute_agent.testing.DriverContract'
        )
    if target and hasattr(found, 'for_target'):
        found = found.for_target(target)
    checks = getattr(found, 'driver', None)
    if checks != name and checks is not driver:
        raise errors.ConfigError(
            f'the contract class of driver {name}, {found.__name__}, has the '
            f'driver {checks!r}: write "driver = {name!r}" in it'
        )
    return found
