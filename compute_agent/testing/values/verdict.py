# SPDX-License-Identifier: Apache-2.0
"""The ways in which the check of a rule can end early."""


class Broken(AssertionError):
    """A driver breaks the rule that is checked.

    :ivar call: the call that shows it, as the agent makes it
    :ivar saw: the result of that call
    :ivar fix: the change that the author has to make
    :ivar number: the number of the rule; empty for the rule that runs
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
