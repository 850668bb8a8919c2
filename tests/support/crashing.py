# SPDX-License-Identifier: Apache-2.0
"""An agent's way to placement that is cut at one request.

``Scissors`` is the service of an agent factory: it counts the requests, and at
the one asked for the agent dies, or loses the answer, before placement sees
the request or after it did what was asked.
"""

import collections.abc
import dataclasses

import placement_replay
import requests

from compute_agent.testing.fixtures import in_process


class Killed(KeyboardInterrupt):
    """The process is no more; nothing of it handles that.

    In the main thread, the agent lets only a KeyboardInterrupt pass.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class Cut:
    """Where a cycle is cut, and how.

    :ivar number: of the request, from 0
    :ivar after: placement does what is asked first
    :ivar kind: what the agent sees: its death, or an answer that is lost
    """

    number: int
    after: bool
    kind: type[BaseException] = Killed

    def __str__(self) -> str:
        when = 'after' if self.after else 'before'
        return f'{self.kind.__name__} {when} request {self.number}'


class Scissors:
    """Placement for one agent.

    :ivar sent: the requests since ``arm``, as ``METHOD /path``
    """

    url = in_process.URL

    def __init__(self, replay: placement_replay.Replay) -> None:
        self._replay = replay
        self._cut: Cut | None = None
        self._at_death: collections.abc.Callable[[], object] = lambda: None
        self.sent: list[str] = []
        self.session = in_process.session(self._answer)

    @property
    def writes(self) -> list[str]:
        """The requests since ``arm`` that are no GET."""
        return [each for each in self.sent if not each.startswith('GET')]

    def arm(
        self,
        cut: Cut | None = None,
        at_death: collections.abc.Callable[[], object] = lambda: None,
    ) -> None:
        """Count from here; cut there, or nowhere."""
        self.sent, self._cut, self._at_death = [], cut, at_death

    def _answer(self, sent: requests.PreparedRequest) -> requests.Response:
        number, cut = len(self.sent), self._cut
        self.sent.append(f'{sent.method} {sent.path_url}')
        if cut is None or cut.number != number:
            return self._replay.ask(sent)
        if cut.after:
            self._replay.ask(sent)
        self._at_death()
        raise cut.kind('cut by the test')
