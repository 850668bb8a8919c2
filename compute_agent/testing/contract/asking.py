# SPDX-License-Identifier: Apache-2.0
"""Asks a driver which of its nodes may have changed, as the daemon does.

The daemon asks for the first time before the first list of nodes, and hands
back the ``since`` of the last answer with each later question. Here every
answer is checked; the daemon takes a bad one for an error of the driver.
"""

import threading
import typing
from collections.abc import Callable, Collection

from ...virt import driver as virt
from ...virt.values.changes import Changes
from ..values.verdict import Broken
from .capability import Capability
from .recorder import question
from .trial import Trial

_SECONDS = 10.0  # to wait for an event
_ANSWER = (
    'return compute_agent.virt.values.changes.Changes, whose names are a list '
    'or set of texts, or None if any node may have changed'
)


class Asking:
    """The questions to one driver, each with the ``since`` of the last answer.

    A driver that has events is subscribed, because it may learn of changes by
    them.

    :ivar since: goes to the driver with the next question
    """

    def __init__(self, trial: Trial, driver: virt.ComputeDriver) -> None:
        self._driver = driver
        self._woken = threading.Event()
        self._event: Callable[[], object] | None = None
        if Capability.EVENTS in trial.capabilities:
            driver.subscribe(self._woken.set)
            self._event = trial.world.event
        self.since: typing.Any = None

    @classmethod
    def begun(cls, trial: Trial, *, trusts: bool = True) -> typing.Self:
        """Have a new driver tell changes since before its first list.

        The driver has then told all changes so far, and placement has its
        description.

        :param trusts: False if the agent asks for a description in each cycle,
            also while the facts of a node are equal
        """
        trial.restart()
        trial.recorder.gives_facts = trusts
        made = cls(trial, trial.recorder)
        made.ask()
        trial.sync()
        made.ask()
        return made

    def ask(self) -> frozenset[str] | None:
        """Return the names that may have changed; None if any name may have.

        :raises Broken: the answer has the wrong type
        """
        call = question(self.since)
        answer = self._driver.changes(self.since)
        if answer is None:
            self.since = None
            return None
        if not isinstance(answer, Changes):
            raise Broken(call, f'it returned {answer!r}', _ANSWER)
        names = answer.names
        if isinstance(names, str) or not isinstance(names, Collection):
            raise Broken(call, f'the names are {names!r}', _ANSWER)
        for name in names:
            if not isinstance(name, str):
                raise Broken(call, f'the name {name!r} is no text', _ANSWER)
        self.since = answer.since
        return frozenset(names)

    def after(self, alter: Callable[[], object]) -> None:
        """Alter the world, and wait until the driver heard of it.

        It waits only if the driver has events; another rule finds that no
        event comes.
        """
        self._woken.clear()
        alter()
        if self._event is not None:
            self._event()
            self._woken.wait(_SECONDS)
