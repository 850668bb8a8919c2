# SPDX-License-Identifier: Apache-2.0
"""The contract suite: a pytest test for each rule of the contract.

A driver's author inherits ``DriverContract`` in a test file and gives it the
driver and its world.
"""

from collections.abc import Callable, Collection
from typing import ClassVar

import pytest

from .. import errors
from .contract import capability, making, runner, trial
from .contract import world as worlds
from .contract.rules import catalogue

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
