# SPDX-License-Identifier: Apache-2.0
"""The rules about a driver as a guest in the agent's process.

It runs there for months: it leaves nothing behind in a cycle, the clock moves,
and what the process has once is not the driver's.
"""

import contextlib
import functools
import gc
import pathlib
import threading
import time
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ....tree import provider_tree, tree_contents
from ....virt import driver as virt
from ...values.seam import RAISING
from ...values.verdict import Broken
from .. import clock, describing, making, process, watch
from ..process import Guest
from ..trial import Cycle, Trial

_HOUR = 3600.0
_MOVES = (
    ('an hour later', _HOUR),
    ('a day later', 25 * _HOUR),
    ('forty days later', 40 * 24 * _HOUR),
    ('after the clock was set back by three hours', -3 * _HOUR),
)
_CYCLES = 20
_WARM = 5  # cycles in which caches fill
_ROUNDS = 3  # of so many cycles; what is left behind grows in each
# A value that refers to these does not keep them in memory.
_NOT_KEPT = (
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
    types.FrameType,
    type,
)
_PROC = pathlib.Path('/proc/self')
_SECONDS = 2.0  # to wait for the threads that a description started
_GUEST = (
    "leave the process as it is: it is the agent's; tell the operator by a note "
    'or an error'
)
_READING = {'copy', 'description'}  # what a tree has beside its verbs


# --- the clock ----------------------------------------------------------------


def time_passes(trial: Trial) -> None:
    """Check that an unchanged world is described the same at any time."""
    moved = clock.Clock()
    with moved.installed(_package(trial)):
        trial.sync()
        usual = trial.steady_cycle('a cycle in an unchanged world')
        for title, seconds in _MOVES:
            moved.move(seconds)
            later = trial.quiet_cycle(
                f'a cycle {title}',
                'let the time of day decide nothing of a description; get a '
                'new token when the old one has expired',
            )
            _check_facts(usual, later, title)


def _check_facts(usual: Cycle, later: Cycle, title: str) -> None:
    for node, facts in later.facts_of.items():
        if facts != usual.facts_of.get(node):
            raise Broken(
                f'facts({node!r}) {title}',
                'they are others in an unchanged world',
                'leave times out of the facts: no description depends on them',
            )


def _package(trial: Trial) -> str:
    return trial.driver_class.__module__.partition('.')[0]


# --- what a cycle leaves behind -----------------------------------------------


def cycles_leave_nothing(trial: Trial) -> None:
    """Check that cycles in an unchanged world leave nothing in the process."""
    trial.sync()
    for _ in range(_WARM):
        _cycle(trial)
    grown = _growth(trial)
    for _ in range(_ROUNDS - 1):
        again = _growth(trial) if grown else {}
        grown = {one: again[one] for one in grown if one in again}
    for what, count in grown.items():
        raise Broken(
            f'update_provider_tree in {_CYCLES} cycles of an unchanged world',
            f'{count} {what}',
            'close, join and forget in each cycle what the cycle opened, '
            'started and kept',
        )
    trial.notes.append(f'{_CYCLES} cycles left nothing behind')


def _growth(trial: Trial) -> dict[str, int]:
    """Run cycles; return the things whose number grew in each cycle."""
    before = _counts() | _objects(trial)
    for _ in range(_CYCLES):
        _cycle(trial)
    after = _counts() | _objects(trial)
    return {
        what: count - before.get(what, 0)
        for what, count in after.items()
        if count - before.get(what, 0) >= _CYCLES
    }


def _cycle(trial: Trial) -> None:
    trial.placement.clear()
    trial.watch.clear()
    trial.cycle()


def _counts() -> dict[str, int]:
    """Return the numbers of the things that are limited in a process."""
    gc.collect()
    found = {'threads more run': threading.active_count()}
    with contextlib.suppress(OSError):
        count = len([*(_PROC / 'fd').iterdir()])
        found['descriptors more are open'] = count
    children = 0
    for task in (_PROC / 'task').glob('*/children'):
        with contextlib.suppress(OSError):
            children += len(task.read_text().split())
    return {**found, 'child processes more are there': children}


def _objects(trial: Trial) -> dict[str, int]:
    """Return the number of objects that each attribute of the driver keeps."""
    return {
        f'objects more are kept by {title}': _kept(value)
        for title, value in _attributes(trial)
    }


def _attributes(trial: Trial) -> Iterator[tuple[str, object]]:
    """Yield the attributes of the driver, its classes and its modules."""
    driver = trial.recorder.driver
    for name, value in vars(driver).items():
        yield f'{type(driver).__name__}.{name}', value
    for module in clock.modules(_package(trial)):
        for name, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, one in list(vars(value).items()):
                    yield f'{value.__name__}.{attribute}', one
            elif not name.startswith('__'):
                yield f'{module.__name__}.{name}', value


def _kept(value: object) -> int:
    """Return the number of objects that a value keeps in memory."""
    seen = set[int]()
    pending = [value]
    while pending:
        one = pending.pop()
        if id(one) in seen or isinstance(one, _NOT_KEPT):
            continue
        seen.add(id(one))
        pending += gc.get_referents(one)
    return len(seen)


# --- the process --------------------------------------------------------------


def process_stays(trial: Trial) -> None:
    """Check that the driver leaves the process as it is."""
    _check_import(trial)
    guest = Guest()
    with guest.watched():
        for call, work in _calls(trial):
            with contextlib.suppress(Exception):  # other rules are about it
                work()
            changed = guest.change()
            if changed:
                raise Broken(call, changed, _GUEST)


def _check_import(trial: Trial) -> None:
    """Check that the import of the driver changes nothing."""
    module = trial.driver_class.__module__
    changed = process.import_change(module)
    if changed:
        raise Broken(f'import {module}', changed, _GUEST)


def _calls(trial: Trial) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the calls of a driver's life."""
    made: list[virt.ComputeDriver] = []

    def make() -> None:
        made.append(making.make(trial.named, trial.world, trial.folder))

    def describe() -> None:
        for node in made[0].get_available_nodes():
            describing.describe(trial, made[0], node)

    def change() -> None:
        if trial.world.change is not None:
            with watch.agent_runs():
                trial.world.change()
        describe()

    yield 'from_conf(conf)', make
    yield 'get_available_nodes() and update_provider_tree', describe
    for seam in trial.world.seams:
        for fault in RAISING:
            failure = watch.Failure(seam=seam, fault=fault)
            yield (
                f'update_provider_tree while {failure}',
                _failing(trial, failure, describe),
            )
    yield 'update_provider_tree after World.change', change
    yield 'changes(None)', lambda: made[0].changes(None)
    yield 'subscribe(wake)', lambda: made[0].subscribe(lambda: None)

    def close() -> None:
        made.pop().close()

    yield 'close()', close


def _failing(
    trial: Trial, failure: watch.Failure, work: Callable[[], object]
) -> Callable[[], None]:
    def run() -> None:
        with trial.watch.failing(failure):
            work()

    return run


# --- the tree -----------------------------------------------------------------


def description_ends(trial: Trial) -> None:
    """Check that nobody edits a tree after the call for it returned."""
    trial.sync()
    with _late_edits(trial) as late:
        before = set(threading.enumerate())
        trial.cycle()
        _join(set(threading.enumerate()) - before)
    for node, verb, name in late:
        raise Broken(
            f'update_provider_tree(…, {node!r})',
            f'the thread {name} called {verb} after it had returned',
            'edit the tree in the call only: wait for the threads that it '
            'starts',
        )


def _join(threads: Collection[threading.Thread]) -> None:
    """Wait until threads end, for a limited time."""
    end = time.monotonic() + _SECONDS
    for thread in threads:
        thread.join(max(end - time.monotonic(), 0.0))


@contextlib.contextmanager
def _late_edits(trial: Trial) -> Iterator[list[tuple[str, str, str]]]:
    """Yield node, verb and thread of each edit of a tree that is described."""
    late: list[tuple[str, str, str]] = []

    def frozen(verb: str, edit: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(edit)
        def told(tree: Any, *args: Any, **how: Any) -> Any:
            for node, one in trial.recorder.described if _is_edit() else ():
                if one is tree:
                    name = threading.current_thread().name
                    late.append((node, verb, name))
            return edit(tree, *args, **how)

        return told

    with contextlib.ExitStack() as stack:
        for owner, verb, edit in list(_verbs()):
            stack.callback(setattr, owner, verb, edit)
            setattr(owner, verb, frozen(verb, edit))
        yield late


def _is_edit() -> bool:
    return watch.is_driver()


def _verbs() -> Iterator[tuple[type, str, Callable[..., Any]]]:
    """Yield the methods that edit a tree."""
    for owner in (provider_tree.ProviderTree, tree_contents.TreeContents):
        for name, found in vars(owner).items():
            is_public = isinstance(found, types.FunctionType) and (
                not name.startswith('_')
            )
            if is_public and name not in _READING:
                yield owner, name, found
