# SPDX-License-Identifier: Apache-2.0
"""Checks one rule on a driver in a world, and says how it ended.

The result is a value: ``suite.py`` makes a test's outcome of it, and the
report a line.
"""

import contextlib
import dataclasses
import enum
from collections.abc import Callable, Collection

from ... import errors
from ..values.verdict import Broken, DoesNotApply, NotTried
from . import capability, making, trial
from . import world as worlds
from .capability import Capability
from .rules import catalogue
from .rules.catalogue import Rule


class Status(enum.Enum):
    """The ways in which the check of a rule can end."""

    PASSED = 'passed'
    FAILED = 'failed'
    SKIPPED = 'skipped'
    NOT_TRIED = 'not tried'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one rule's check.

    :ivar reason: one line: the rule, the call and the fix of a failure; why
        the rule was skipped or not tried; empty if it passed
    :ivar notes: lines for the report
    """

    rule: Rule
    status: Status
    reason: str = ''
    notes: tuple[str, ...] = ()


def check(
    one: Rule,
    driver: making.Driver,
    world: worlds.World,
    declared: Collection[capability.Capability] = (),
    seconds: float = trial.SECONDS,
    slow: Callable[[str], object] | None = None,
) -> Outcome:
    """Return the outcome of a rule.

    :param driver: the name of an entry point, or a class
    :param declared: the capabilities that the author declares
    :param seconds: the rule is broken if its check has not ended by then
    :param slow: called every few seconds with a line about the rule that runs
    :raises errors.ConfigError: the check cannot begin: no such driver, a
        package is missing, or a seam of the world is wrong
    """
    if one.needs is Capability.SEVERAL_NODES and (
        world.nodes is not None or _lists_several(driver, world, seconds)
    ):
        declared = {*declared, Capability.SEVERAL_NODES}
    has = {*declared, *capability.shown_by(making.driver_class(driver))}
    if one.needs is not None and one.needs not in has:
        return Outcome(
            rule=one,
            status=Status.SKIPPED,
            reason=f'for drivers with the capability {one.needs.name}: '
            f'{capability.MEANINGS[one.needs]}',
        )
    with trial.opened(driver, world, declared) as opened:
        status, reason = _checked(one, opened, seconds, slow)
        return Outcome(
            rule=one,
            status=status,
            reason=' '.join(reason.split()),
            notes=tuple(dict.fromkeys(opened.notes)),
        )


def _lists_several(
    driver: making.Driver, world: worlds.World, seconds: float
) -> bool:
    """Return True if a driver lists several nodes, whatever it declares."""
    found: list[str] = []
    with (
        trial.opened(driver, world, ()) as opened,
        contextlib.suppress(Exception),  # other rules report this failure
    ):
        made = opened.make_driver()
        trial.within(
            seconds,
            lambda: found.extend(made.get_available_nodes()),
            opened.driver_class,
        )
    return len(found) > 1


def _checked(
    one: Rule,
    opened: trial.Trial,
    seconds: float,
    slow: Callable[[str], object] | None,
) -> tuple[Status, str]:
    def tell(what: str) -> None:
        if slow is not None:
            slow(f'{one} is still running: {what}')

    try:
        trial.within(
            seconds, lambda: one.check(opened), opened.driver_class, tell
        )
    except DoesNotApply as exc:
        return Status.SKIPPED, str(exc)
    except NotTried as exc:
        return Status.NOT_TRIED, str(exc)
    except Broken as exc:
        broken = catalogue.BY_NUMBER.get(exc.number, one)
        return Status.FAILED, f'{broken}: {exc}'
    except errors.AgentError as exc:
        return Status.FAILED, f'{one}: the check ended with an error: {exc}'
    except Exception as exc:  # noqa: BLE001 (of the driver, called directly)
        return Status.FAILED, (
            f'{one}: the check ended with {type(exc).__name__}: {exc}; a '
            'driver raises errors.DriverError with a line for the operator'
        )
    return Status.PASSED, ''
