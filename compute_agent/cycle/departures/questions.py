# SPDX-License-Identifier: Apache-2.0
"""The questions to the drivers about nodes that no list has.

A driver is asked in each cycle about a node for which it could not tell, and
about a node that exists again after ``interval`` seconds. A node that is gone
is asked about once more, just before its providers are deleted. A node of
several drivers is gone if all of them say so.
``departed_nodes.py`` calls it and records the answers.
"""

import dataclasses
from collections.abc import Callable, Mapping

from ... import errors
from ...state.nodes import KnownNode
from ...tree.node import Node
from ...virt import answers, drivers, failures, long_calls
from ...virt import driver as virt

# In one cycle, so that many moves do not delay it.
ASKED_AGAIN_AT_ONCE = 100
CANNOT_TELL = (
    "left this driver's list, and whether it still exists cannot be told{}: "
    'nothing of it is removed'
)


class Questions:
    """Asks the drivers about missing nodes.

    :param clock: seconds since the epoch
    :param interval: seconds after which the driver is asked again about a node
        that exists
    """

    def __init__(
        self,
        every: drivers.Drivers,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._drivers = every
        self._clock = clock
        self._interval = interval

    def ask_due(
        self, missing: Mapping[str, KnownNode]
    ) -> tuple[dict[str, KnownNode], list[tuple[Node, str]]]:
        """Ask about the nodes that are due, the least recently asked first.

        All nodes that left the list in this cycle are asked about, because
        those that are gone must not be offered any longer.
        Return the nodes with their answers, and those for which the driver
        cannot tell, with the reason. If the driver's service is away, the
        agent asks about no other node, because each question would wait as
        long.
        """
        due = [(u, node) for u, node in missing.items() if self._is_due(node)]
        due.sort(key=lambda pair: pair[1].asked_at)
        asked: dict[str, KnownNode] = {}
        unknown = []
        new = sum(node.answer is None for _, node in due)
        for uuid, node in due[: max(new, ASKED_AGAIN_AT_ONCE)]:
            try:
                answer, why = self.ask(node)
            except errors.Unavailable as exc:
                unknown += [
                    (n.node(u), CANNOT_TELL.format(f' ({exc})'))
                    for u, n in due
                    if u not in asked
                ]
                break
            asked[uuid] = self.answered(node, answer)
            if answer is virt.Existence.UNKNOWN:
                unknown.append((node.node(uuid), CANNOT_TELL.format(why)))
        return asked, unknown

    def ask(self, node: KnownNode) -> tuple[virt.Existence, str]:
        """Return the drivers' answer, and the reason if it is unknown.

        Only the drivers that had the node are asked.

        :raises errors.Unavailable: a driver's service is away
        """
        answers = dict(
            self._ask(one.driver, node)
            for one in self._drivers
            if one.reference in node.drivers or not node.drivers
        )
        for answer in (virt.Existence.YES, virt.Existence.UNKNOWN):
            if answer in answers:
                return answer, answers[answer]
        gone = virt.Existence.NO in answers
        return virt.Existence.NO if gone else virt.Existence.UNKNOWN, ''

    def _ask(
        self, driver: virt.ComputeDriver, node: KnownNode
    ) -> tuple[virt.Existence, str]:
        try:
            called = type(driver).__name__
            with long_calls.watched(called, 'node_exists', node.name):
                found = driver.node_exists(node.name)
            return answers.existence(called, found), ''
        except errors.Unavailable:
            raise
        except errors.AgentError as exc:
            return virt.Existence.UNKNOWN, f' ({exc})'
        except failures.caught() as exc:  # reported as the reason
            return virt.Existence.UNKNOWN, f' ({failures.text(exc)})'

    def answered(self, node: KnownNode, answer: virt.Existence) -> KnownNode:
        """Return the node with this answer; an existing node did not leave."""
        exists = answer is virt.Existence.YES
        return dataclasses.replace(
            node,
            answer=answer,
            asked_at=self._clock(),
            left_at=None if exists else node.left_at,
            left_of=0 if exists else node.left_of,
        )

    def _is_due(self, node: KnownNode) -> bool:
        """Return True if the driver is asked about the node in this cycle.

        The question about a node that is gone comes later, before its
        deletion.
        """
        if node.answer is virt.Existence.NO:
            return False
        if node.answer is not virt.Existence.YES:
            return True
        age = self._clock() - node.asked_at
        return age < 0 or age >= self._interval > 0
