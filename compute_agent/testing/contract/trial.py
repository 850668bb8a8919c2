# SPDX-License-Identifier: Apache-2.0
"""A trial: one driver in one world, an agent around it, a real placement.

A rule's check gets a fresh one. ``sync`` holds the driver to two rules by
itself: every node is done after one cycle, and the second cycle writes
nothing. ``within`` limits a check, so that a driver that hangs is named.
"""

import contextlib
import contextvars
import dataclasses
import pathlib
import sys
import tempfile
import threading
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent import futures

from ... import errors
from ...cmd.wiring import agent
from ...cycle.node import node_result
from ...cycle.resource_tracker import ResourceTracker
from ...tree import assertion
from ...virt import driver as virt
from ...virt.values import finding
from ..fixtures import cycles
from ..fixtures import placement as placements
from ..values.differences import Held
from ..values.verdict import Broken
from . import capability, making, process, watch, wire
from . import world as worlds
from .capability import Capability
from .recorder import Recorder, Said

#: Seconds for one rule.
SECONDS = 120.0
_SLOW = 10.0  # seconds after which a rule says what runs, and again

_Results: typing.TypeAlias = Sequence[node_result.NodeResult]

_CONVERGES, _QUIET = 'CA003', 'CA004'
_SAME = (
    'describe an unchanged node by the same calls with the same values, and '
    'remove no sharing provider that another node of the driver reports'
)
_TIME_OUT = (
    'give each call on the outside world a time-out, or give the contract '
    'class a larger limit'
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One cycle of the agent.

    :ivar results: the results of the nodes; empty if the cycle could not begin
    :ivar error: the reason for that; empty if it began
    :ivar said: node → the description
    :ivar facts_of: node → the driver's facts, which may be None
    :ivar raised: the call and the exception of each failure of the driver
    """

    results: _Results
    error: str
    said: Mapping[str, Said]
    facts_of: Mapping[str, object]
    raised: Sequence[tuple[str, Exception]]

    @property
    def trouble(self) -> str:
        """The first reason why a node is not done; empty if all are."""
        if self.error:
            return self.error
        return next(
            (
                node_result.line(one)
                for one in self.results
                if not one.is_settled
            ),
            '',
        )

    @property
    def notes(self) -> frozenset[str]:
        """The lines of the driver for the operator."""
        return frozenset(
            text
            for said in self.said.values()
            for text in (*said.notes, *said.faults)
        )


class Trial:
    """One driver in one world, on a placement of its own.

    :ivar declared: the capabilities that the author declares
    :ivar capabilities: the declared ones, and those that the driver's methods
        show
    :ivar notes: lines for the report
    """

    def __init__(
        self,
        driver: making.Driver,
        world: worlds.World,
        declared: Collection[Capability],
        *,
        placement: placements.Placement,
        watched: watch.Watch,
        folder: pathlib.Path,
    ) -> None:
        self.named = driver
        self.world = world
        self.declared = frozenset(declared)
        self.capabilities = self.declared | capability.shown_by(
            making.driver_class(driver)
        )
        self.placement = placement
        self.watch = watched
        self.folder = folder
        self.wire = wire.Wire()
        self.notes: list[str] = []
        self.workers = 1
        self._stack = contextlib.ExitStack()
        self._recorder: Recorder | None = None
        self._agent: agent.Agent | None = None

    # --- the driver -----------------------------------------------------------

    @property
    def recorder(self) -> Recorder:
        """The driver as the agent has it."""
        if self._recorder is None:
            self.restart()
        return typing.cast(Recorder, self._recorder)

    @property
    def driver_class(self) -> type[virt.ComputeDriver]:
        """The class of the driver."""
        return making.driver_class(self.named)

    def make_driver(self) -> virt.ComputeDriver:
        """Return another driver in the same world; it is closed at the end."""
        made = making.make(self.named, self.world, self.folder)
        self._stack.callback(_close, made)
        return made

    def restart(self) -> None:
        """Make a new driver and a new agent; the agent keeps its record."""
        if self._recorder is not None:
            _close(self._recorder)
        self._recorder = Recorder.around(
            making.make(self.named, self.world, self.folder)
        )
        with watch.agent_runs():
            self._agent = cycles.agent_on(
                self._recorder, self.placement, workers=self.workers
            )

    @contextlib.contextmanager
    def trusting_facts(self) -> Iterator[None]:
        """Have the agent ask for no description while the facts are equal."""
        self.recorder.gives_facts = True
        try:
            yield
        finally:
            self.recorder.gives_facts = False

    def close(self) -> None:
        """End the driver and the agent."""
        if self._recorder is not None:
            _close(self._recorder)
        self._stack.close()

    # --- cycles ---------------------------------------------------------------

    def cycle(self) -> Cycle:
        """Run one cycle; it may fail."""
        return self._cycle(lambda tracker: tracker.sync())

    def cycle_of(self, names: Collection[str]) -> Cycle:
        """Run one cycle of the nodes that ``changes`` named, without a list."""
        told = {assertion.DRIVER: frozenset(names)}
        return self._cycle(lambda tracker: tracker.sync_changed(told))

    def fresh(self) -> tuple[Cycle, Held]:
        """Run a cycle of a new driver on an empty placement.

        :returns: the cycle, and what the placement then holds; the trial's own
            driver, agent and placement stay as they are
        """
        with contextlib.ExitStack() as stack, self.aside() as other:
            stack.callback(other.close)
            return self.cycle(), self.held()

    @contextlib.contextmanager
    def aside(
        self, other: placements.Aside | None = None
    ) -> Iterator[placements.Aside]:
        """Be a new driver on another placement until the end of the with.

        :param other: what an earlier ``with`` yielded; None for an empty
            placement
        """
        kept = self._recorder, self._agent
        with self.placement.aside(other) as found:
            self._recorder = None
            try:
                self.restart()
                yield found
            finally:
                if self._recorder is not None:
                    _close(self._recorder)
                self._recorder, self._agent = kept

    def _cycle(self, run: Callable[[ResourceTracker], _Results]) -> Cycle:
        recorded = self.recorder
        recorded.clear()
        results: _Results = ()
        error = ''
        try:
            with watch.agent_runs():
                results = run(typing.cast(agent.Agent, self._agent).tracker)
        except errors.AgentError as exc:
            error = str(exc)
        except Exception as exc:  # noqa: BLE001 (as the daemon's loop does)
            error = f'{type(exc).__name__}: {exc}'
        return Cycle(
            results=results,
            error=error,
            said=dict(recorded.said),
            facts_of=dict(recorded.facts_of),
            raised=tuple(recorded.raised),
        )

    def sync(self) -> Cycle:
        """Run one cycle that finishes all nodes, and one that writes nothing.

        :raises Broken: a node is not done, or the second cycle writes
        """
        done = self.cycle()
        if done.trouble:
            raise Broken(
                _failed_call(done),
                f'the cycle is not done: {done.trouble}',
                'describe the node so that placement takes every name and '
                'amount of it',
                number=_CONVERGES,
            )
        self.quiet_cycle('the second cycle', number=_QUIET)
        return done

    def quiet_cycle(
        self, title: str, fix: str = _SAME, *, number: str = ''
    ) -> Cycle:
        """Run one cycle that must write nothing.

        :param number: the number of the rule that is broken otherwise
        :raises Broken: the cycle writes, or a node is not done
        """
        self.placement.clear()
        again = self.cycle()
        wrote = [str(w) for w in self.placement.writes]
        if wrote or again.trouble:
            raise Broken(
                f'update_provider_tree in {title}',
                f'it wrote {", ".join(wrote)}'
                if wrote
                else f'it is not done: {again.trouble}',
                fix,
                number=number,
            )
        return again

    def steady_cycle(self, title: str) -> Cycle:
        """Run two cycles that write nothing and have equal notes; return one.

        After that, a new note has a meaning. Rules that accept a note as an
        explanation begin with this.

        :raises Broken: a cycle writes, a node is not done, or the notes differ
        """
        first = self.quiet_cycle(title)
        second = self.quiet_cycle(title)
        changing = sorted(second.notes ^ first.notes)
        if changing:
            raise Broken(
                f'update_provider_tree in {title}',
                f'the notes of two cycles in an unchanged world differ: '
                f'{changing[0]!r} is in one of them only',
                'write the same notes about the same state: leave out what '
                'changes by itself, such as counters and times',
            )
        return second

    def unknown_traits(self, driver: virt.ComputeDriver) -> frozenset[str]:
        """Return the traits that the driver cannot tell now, by evidence."""
        if not isinstance(driver, finding.Evidence):
            return frozenset()
        return frozenset(
            one.trait
            for node in driver.get_available_nodes()
            for one in driver.evidence(node)
            if one.trait and one.found is finding.Found.UNKNOWN
        )

    def held(self) -> Held:
        """Return what placement holds, by the names of the providers."""
        with watch.agent_runs():
            return self.placement.held()


@contextlib.contextmanager
def opened(
    driver: making.Driver,
    world: worlds.World,
    declared: Collection[Capability],
) -> Iterator[Trial]:
    """Open a trial; close it at the end.

    :raises errors.ConfigError: a package is missing, or a seam is wrong
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(process.restored())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        placement = stack.enter_context(placements.Placement())
        watched = stack.enter_context(watch.Watch(world.seams).installed())
        trial = Trial(
            driver,
            world,
            declared,
            placement=placement,
            watched=watched,
            folder=pathlib.Path(folder),
        )
        stack.callback(trial.close)
        yield trial


def _failed_call(cycle: Cycle) -> str:
    """Return the driver's call that failed first."""
    calls = [call for call, _ in cycle.raised]
    return calls[0] if calls else 'update_provider_tree'


def _close(driver: typing.Any) -> None:
    """Close a driver; another rule reports a failure."""
    with contextlib.suppress(Exception):
        within(SECONDS, driver.close, type(driver))


# --- a limit ------------------------------------------------------------------


def within(
    seconds: float,
    work: Callable[[], object],
    driver_class: type,
    slow: Callable[[str], object] | None = None,
) -> None:
    """Do some work with a driver of this class, for a limited time.

    It runs in a thread of its own. Nothing can end a thread that hangs: it is
    left, and does not keep the process.

    :param slow: called every few seconds with the driver's running call, and
        its line
    :raises Broken: the work has not ended after these seconds
    """
    ended: futures.Future[None] = futures.Future()

    def run() -> None:
        try:
            work()
        except BaseException as exc:  # noqa: BLE001 (raised by the caller)
            ended.set_exception(exc)
        else:
            ended.set_result(None)

    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(run,), name='rule', daemon=True
    )
    thread.start()
    left = seconds
    while thread.is_alive() and left > 0:
        thread.join(min(_SLOW, left))
        left -= _SLOW
        if slow is not None and thread.is_alive():
            slow(''.join(_where(thread, driver_class)))
    if thread.is_alive():
        call, place = _where(thread, driver_class)
        raise Broken(
            call,
            f'it has not ended after {seconds:g} seconds{place}',
            _TIME_OUT,
        )
    ended.result()


def _where(thread: threading.Thread, driver_class: type) -> tuple[str, str]:
    """Return the driver's call that has not ended, and its line.

    The agent may make the call in another thread than that of the check.
    """
    frames = sys._current_frames()  # noqa: SLF001 (the documented way)
    first = frames.get(thread.ident or 0)
    others = [f for f in frames.values() if f is not first]
    for frame in (*([first] if first else []), *others):
        for outer in reversed(list(_outwards(frame))):
            if _is_of(outer, driver_class):
                code = frame.f_code
                return (
                    outer.f_code.co_name,
                    f' ({code.co_filename}, line {frame.f_lineno})',
                )
    return 'the check', ''


def _outwards(frame: types.FrameType) -> Iterator[types.FrameType]:
    """Yield a frame and those around it."""
    found: types.FrameType | None = frame
    while found is not None:
        yield found
        found = found.f_back


def _is_of(frame: types.FrameType, driver_class: type) -> bool:
    """Return True for a method of the driver."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    if not names:
        return False
    first = frame.f_locals.get(names[0])
    return first is driver_class or isinstance(first, driver_class)
