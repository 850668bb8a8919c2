# SPDX-License-Identifier: Apache-2.0
"""Two nodes that share a provider, and a state that another thread reaches first.

The interleavings of two threads are forced where one asks the state or writes
to it; what happens there is what the other thread would do.
"""

import typing
from collections.abc import Callable, Iterable

from agents import NODE

from compute_agent.state import state
from compute_agent.tree import provider

OTHER = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'
NODES = {NODE: 'node-1', OTHER: 'node-2'}


class Part:
    """A part of the state, one method of which is another.

    :param method: its name, and what is called instead of it
    """

    def __init__(self, part: object, **method: Callable[..., object]) -> None:
        self._part = part
        vars(self).update(method)

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._part, name)


class Overtaken(state.State):
    """A state that another thread reaches first.

    :ivar ahead: ``readings`` or ``save`` → what that thread does, once, just
        before the shared provider is asked for, or kept
    :ivar behind: the same for ``readings``, just after they were answered
    """

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.ahead: dict[str, Callable[[], object]] = {}
        self.behind: dict[str, Callable[[], object]] = {}
        readings, save = self.snapshot.readings, self.journal.save

        def read(uuids: Iterable[str]) -> dict[str, provider.Reading]:
            wanted = list(uuids)
            self._meet(self.ahead, 'readings', wanted)
            found = readings(wanted)
            self._meet(self.behind, 'readings', wanted)
            return found

        def keep(given: Iterable[provider.Reading], **how: typing.Any) -> None:
            given = list(given)
            self._meet(self.ahead, 'save', [r.provider.uuid for r in given])
            save(given, **how)

        vars(self).update(
            snapshot=Part(self.snapshot, readings=read),
            journal=Part(self.journal, save=keep),
        )

    @staticmethod
    def _meet(
        others: dict[str, Callable[[], object]],
        method: str,
        uuids: list[str],
    ) -> None:
        if SHARED in uuids and method in others:
            others.pop(method)()
