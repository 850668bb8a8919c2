# SPDX-License-Identifier: Apache-2.0
"""The rules for drivers of several nodes: cost, departures, threads."""

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence

from ....virt import driver as virt
from ...values import differences
from ...values.verdict import Broken, NotTried
from ..trial import Trial

_SIZES = (2, 4, 8)
_SLACK = 2  # calls that a page more of a listing may take
_WORKERS = 4
_ROUNDS = 3
_MEET = 0.5  # seconds that a thread waits for another one
_MOST_MISSED = 20  # threads that nobody joined; then none waits any more
_SWITCH = 1e-6  # seconds


def cost_is_linear(trial: Trial) -> None:
    """Check that the calls of a cycle grow in step with the nodes."""
    if not trial.world.seams:
        raise NotTried('the world has no seams to count the calls of')
    counts = []
    for size in _SIZES:
        _set_nodes(trial, size)
        trial.sync()
        counts.append((_calls(trial), _first_calls(trial)))
    later, first = zip(*counts, strict=True)
    _check_growth(trial, 'cycles', later)
    _check_growth(trial, 'first cycles after a restart', first)


def _calls(trial: Trial) -> int:
    """Return the calls of one cycle."""
    trial.watch.clear()
    trial.cycle()
    return len(trial.watch.calls)


def _first_calls(trial: Trial) -> int:
    """Return the calls of the first cycle after a restart."""
    trial.restart()
    return _calls(trial)


def _check_growth(trial: Trial, title: str, counts: Sequence[int]) -> None:
    small, middle, large = counts
    calls = (
        f'{title} of {_SIZES[0]}, {_SIZES[1]} and {_SIZES[2]} nodes make '
        f'{small}, {middle} and {large} calls'
    )
    if large - middle > 2 * (middle - small) + _SLACK:
        raise Broken(
            'get_available_nodes, facts and update_provider_tree',
            f'{calls} through the seams',
            'read what nodes share once, in get_available_nodes, and take '
            'facts and descriptions from it',
        )
    trial.notes.append(calls)


def departed_nodes(trial: Trial) -> None:
    """Check the answer about a node that left, and that it may come back."""
    _set_nodes(trial, 3)
    trial.sync()
    before = trial.held()
    left, uuid = _left(trial)
    answer = trial.recorder.driver.node_exists(left)
    _check_answer(trial, left, answer)
    for _ in range(2):
        trial.cycle()
    if answer is virt.Existence.NO and _is_held(trial, left, uuid):
        raise Broken(
            f'node_exists({left!r})',
            'it returned Existence.NO, and the provider is still there',
            'return the same answer in each cycle',
        )
    _set_nodes(trial, 3)
    trial.sync()
    changed = differences.between_contents(before, trial.held())
    if changed:
        raise Broken(
            'get_available_nodes() after a node came back',
            changed,
            'list and describe a node that is back as the node that it was',
        )


def _is_held(trial: Trial, left: str, uuid: str | None) -> bool:
    """Return True if placement has a node, which may have another name."""
    if uuid is None:
        return left in trial.held()
    return uuid in trial.placement.contents()


def _left(trial: Trial) -> tuple[str, str | None]:
    """Have the last of three nodes leave; return its name and uuid."""
    driver = trial.recorder.driver
    was = list(driver.get_available_nodes())
    uuids = {n: u for u, n in driver.get_nodenames_by_uuid().items()}
    _set_nodes(trial, 2)
    left = [n for n in was if n not in driver.get_available_nodes()]
    if len(left) != 1:
        raise Broken(
            'get_available_nodes() after World.nodes(2)',
            f'{len(left)} of 3 nodes left the list',
            'list the nodes that the source has now',
        )
    return left[0], uuids.get(left[0])


def _check_answer(trial: Trial, left: str, answer: virt.Existence) -> None:
    if answer is virt.Existence.YES:
        raise Broken(
            f'node_exists({left!r})',
            'it returned Existence.YES for a node that the source has no more',
            'return NO if the source says so, UNKNOWN if it cannot tell',
        )
    if answer is virt.Existence.UNKNOWN:
        trial.notes.append(
            'the driver cannot tell that a node is gone: nothing of it is '
            'ever deleted'
        )


def parallel_is_equal(trial: Trial) -> None:
    """Check that descriptions in parallel threads give the same result."""
    _set_nodes(trial, _SIZES[-1])
    trial.sync()
    trial.workers = _WORKERS
    meeting = _Meeting()
    with trial.watch.pausing(meeting.pause), _switching_often():
        for _ in range(_ROUNDS):
            trial.restart()
            trial.quiet_cycle(
                f'a cycle with {_WORKERS} threads',
                'keep nothing of one node in an attribute that the '
                'description of another one reads',
            )
    trial.notes.append(
        f'threads met in {meeting.count} calls through the seams'
    )


class _Meeting:
    """Lets the threads that describe nodes meet, two in each call.

    If one thread stored something in an attribute before the call, the other
    thread has replaced it after the call. A thread that meets no other goes on
    after a while. So the time decides how often threads meet, but not what the
    rule finds.

    :ivar count: the meetings
    """

    def __init__(self) -> None:
        self._door = threading.Condition()
        self._first: object = None
        self._missed = 0
        self._home = threading.get_ident()
        self.count = 0

    def pause(self) -> None:
        """Wait for another thread; return at once in the thread of cycles."""
        if threading.get_ident() == self._home:
            return
        with self._door:
            if self._first is None:
                self._wait()
            else:
                self._first = None
                self.count += 1
                self._door.notify_all()

    def _wait(self) -> None:
        if self._missed >= _MOST_MISSED:
            return
        self._first = mine = object()
        if not self._door.wait_for(lambda: self._first is not mine, _MEET):
            self._first = None
            self._missed += 1


@contextlib.contextmanager
def _switching_often() -> Iterator[None]:
    """Have Python change the thread that runs as often as it can.

    Not while coverage or a debugger traces: two threads that start at the same
    time both set the trace function, and then Python 3.11 may end one of them
    before it runs anything.
    """
    usual = sys.getswitchinterval()
    if sys.gettrace() is None:
        sys.setswitchinterval(_SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _set_nodes(trial: Trial, count: int) -> None:
    if trial.world.nodes is None:
        raise NotTried('World.nodes is not given')
    trial.world.nodes(count)
