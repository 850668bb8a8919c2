# SPDX-License-Identifier: Apache-2.0
"""One rule of the contract, and the ways in which its check can end early.

The number of a rule stays with it for ever; a rule that is dropped leaves its
number unused.
"""

import dataclasses
import re
import typing
from collections.abc import Callable

from . import capability

if typing.TYPE_CHECKING:
    from . import trial


class Broken(AssertionError):
    """A driver breaks the rule that is checked.

    :ivar call: the call that shows it, as the agent makes it
    :ivar saw: the result of that call
    :ivar fix: the change that the author has to make
    :ivar number: the number of the rule; empty for the one that is checked
    """

    def __init__(
        self, call: str, saw: str, fix: str, *, number: str = ''
    ) -> None:
        self.call, self.saw, self.fix = call, saw, fix
        self.number = number
        super().__init__(f'{call}: {saw}; {fix}')


class DoesNotApply(Exception):
    """The rule says nothing about this driver; with a reason."""


class NotTried(Exception):
    """The rule concerns the driver, and the world has nothing to try it with.

    Nothing is known then: the driver may break the rule.
    """


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    :ivar number: CA and three digits
    :ivar title: the rule as a sentence without its full stop
    :ivar check: raises ``Broken``, ``DoesNotApply`` or ``NotTried``
    :ivar needs: the capability whose drivers it concerns; None for all drivers
    :ivar since: the version of the contract that has it first
    """

    number: str
    title: str
    check: 'Callable[[trial.Trial], None]'
    needs: capability.Capability | None = None
    since: str = '1.0'

    @property
    def slug(self) -> str:
        """The number and the title, as a name of a test."""
        words = re.findall(r'[a-z0-9_]+', self.title.lower())
        return '-'.join([self.number, *words])

    def __str__(self) -> str:
        return f'{self.number} ({self.title})'
