# SPDX-License-Identifier: Apache-2.0
"""The result of one check, and the check itself.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
import enum
from collections.abc import Callable


class Outcome(enum.Enum):
    """The kinds of results; only a failure makes the exit code 1."""

    OK = 'ok'
    WARNING = 'warning'
    FAILED = 'failed'
    NOT_CHECKED = 'not checked'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a check.

    :ivar said: the fact, or why the check could not find it
    :ivar fix: the advice; empty if nothing is wrong
    """

    outcome: Outcome
    said: str
    fix: str = ''

    def __str__(self) -> str:
        return f'{self.said}: {self.fix}' if self.fix else self.said


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check that was not run yet.

    :ivar name: its subject
    """

    name: str
    run: Callable[[], Finding]


def ok(said: str) -> Finding:
    """Return the result of a check that found nothing wrong."""
    return Finding(outcome=Outcome.OK, said=said)


def warning(said: str, fix: str) -> Finding:
    """Return a warning: the result of something that may become a failure."""
    return Finding(outcome=Outcome.WARNING, said=said, fix=fix)


def failed(said: str, fix: str = '') -> Finding:
    """Return the result that the agent cannot work so."""
    return Finding(outcome=Outcome.FAILED, said=said, fix=fix)


def not_checked(why: str) -> Finding:
    """Return the result of a check that could not be made."""
    return Finding(outcome=Outcome.NOT_CHECKED, said=why)
