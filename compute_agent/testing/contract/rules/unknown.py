# SPDX-License-Identifier: Apache-2.0
"""The rules about failures of the world outside: empty is not unknown.

The fault matrix: each fault at each call through each seam, once in a later
cycle of the same driver and once in the first cycle after a restart. A driver
with facts also meets it in a later cycle in which the agent trusts its facts,
and so asks for no description while they are equal. A driver with ``changes``
meets the fault during that call.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from ....virt import driver as virt
from ...values import differences
from ...values.differences import Held
from ...values.seam import RAISING, Fault, Seam
from ...values.verdict import Broken, DoesNotApply, NotTried
from .. import recorder, watch, wire
from ..asking import Asking
from ..capability import Capability
from ..trial import Cycle, Trial
from . import words

_HEALING = 2  # cycles after a fault in which all must be as before
_FACTS = 'CA023'

_KEEP = (
    'an answer that is missing or odd is unknown: raise DriverError with a '
    'line, or call keep_* for what depends on it'
)
_NO_SEAMS = (
    'the world has no seams: the driver asks nothing outside, or World.seams '
    'is not given'
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A cycle without a fault.

    :ivar trusts: True if the agent trusts the facts, and so may ask for no
        description
    """

    held: Held
    said: Mapping[str, recorder.Said]
    facts_of: Mapping[str, object]
    notes: frozenset[str]
    trusts: bool = False


Failing = watch.Failure | wire.WireFailure


def _failing(
    trial: Trial, failure: Failing
) -> contextlib.AbstractContextManager[object]:
    """Let a call, or an exchange with a server, fail."""
    if isinstance(failure, watch.Failure):
        return trial.watch.failing(failure)
    return trial.wire.failing(failure)


def matrix(fault: Fault) -> Callable[[Trial], None]:
    """Return the check of one column of the fault matrix."""
    return functools.partial(_matrix, fault)


def _matrix(fault: Fault, trial: Trial) -> None:
    seams = _speaking(trial, fault)
    trial.sync()
    normal, calls = normal_cycles(trial)
    tried = 0
    for failure in _failures(trial, fault, seams, calls):
        tried += try_one(trial, normal, failure, 'in a later cycle')
    with _trusting(trial, normal) as (trusting, fewer):
        for failure in _failures(trial, fault, seams, fewer):
            tried += try_one(
                trial, trusting, failure, 'in a cycle of equal facts'
            )
    trial.restart()
    normal, calls = normal_cycles(trial)
    for failure in _failures(trial, fault, seams, calls):
        trial.restart()
        tried += try_one(trial, normal, failure, 'after a restart')
    if not calls:
        raise NotTried('a cycle makes no call through the seams')
    tried += _in_changes(trial, fault, seams)
    _check_opaque(trial, fault)
    if not tried:
        raise DoesNotApply(f'no answer of the seams can be {fault.value}')
    trial.notes.append(f'{tried} faults tried')


def _check_opaque(trial: Trial, fault: Fault) -> None:
    """Check that each answer could be made a bad one.

    :raises NotTried: the suite does not know how
    """
    for (seam, of), kind in trial.watch.opaque.items():
        if of is fault:
            raise NotTried(
                f'{seam} returns a {kind}, of which the suite makes no '
                f'{fault.name} answer: give the seam half= and garbage=, name '
                'one that returns plain data, or say in silent= why the '
                'source cannot tell it'
            )


def failure_is_told(trial: Trial) -> None:
    """Check that the driver reports a source that does not answer at all."""
    trial.sync()
    normal, _ = normal_cycles(trial)
    tried = _outages(trial, normal)
    with _trusting(trial, normal) as (trusting, fewer):
        tried += _outages(trial, trusting) if fewer else 0
    if not tried:
        raise NotTried('a cycle makes no call through the seams')


def _outages(trial: Trial, normal: Normal) -> int:
    """Let every call of each seam fail; return the number of outages."""
    tried = 0
    for fault in RAISING:
        for seam in _speaking(trial, fault):
            failure = watch.Failure(seam=seam, fault=fault)
            check_told(trial, normal, failure)
            tried += bool(failure.hits)
            heal(trial, normal, f'{fault.value} of {seam}')
    return tried


def check_told(trial: Trial, normal: Normal, failure: Failing) -> None:
    """Run a cycle while a source fails, which the driver must report."""
    with _failing(trial, failure):
        cycle = trial.cycle()
        told = _tells(cycle, normal) or not failure.hits
        # In a cycle of equal facts, nobody asks for evidence.
        told = told or (not normal.trusts and _finds_unknown(trial))
    if not told:
        raise Broken(
            f'{"facts" if normal.trusts else "update_provider_tree"} while '
            f'{failure}',
            'the node is done, and nothing says that the source does not '
            'answer',
            _KEEP,
        )


def not_denied(trial: Trial) -> None:
    """Check that node_exists denies no node because of a fault."""
    driver = trial.make_driver()
    for name in driver.get_available_nodes():
        call = f'node_exists({name!r})'
        trial.watch.clear()
        answer = driver.node_exists(name)
        if answer is not virt.Existence.YES:
            raise Broken(
                call,
                f'it returned {answer!r} for a node of the list',
                'return Existence.YES for a node that the source has',
            )
        calls = list(trial.watch.calls)
        for fault in Fault:
            seams = [s for s in trial.world.seams if fault not in s.silent]
            for failure in _failures(trial, fault, seams, calls):
                _check_answer(trial, driver, name, failure)
    if not trial.world.seams:
        raise NotTried(_NO_SEAMS)


def _check_answer(
    trial: Trial,
    driver: virt.ComputeDriver,
    name: str,
    failure: watch.Failure,
) -> None:
    with trial.watch.failing(failure):
        try:
            answer = driver.node_exists(name)
        except Exception:  # noqa: BLE001 (the agent takes it for unknown)
            return
    if answer is virt.Existence.NO:
        raise Broken(
            f'node_exists({name!r}) at {failure}',
            'it returned Existence.NO, so the agent would delete the node',
            'return Existence.NO only if the source says so itself, else '
            'UNKNOWN, or raise DriverError',
        )


# --- one cell of the matrix ---------------------------------------------------


def try_one(
    trial: Trial,
    normal: Normal,
    failure: Failing,
    moment: str,
) -> bool:
    """Check one cell; return False if the driver made no such call."""
    with _failing(trial, failure):
        cycle = trial.cycle()
    if not failure.hits:
        return False
    if failure.fault not in RAISING:  # CA018 itself tries these
        for of, exc in cycle.raised:
            at = f'{of} at {failure} {moment}'
            words.check_error(at, exc, number=words.MESSAGES)
    call = f'update_provider_tree at {failure} {moment}'
    changed = differences.between_contents(normal.held, trial.held())
    why = f'{failure.became}, and ' if failure.became else ''
    if changed:
        raise Broken(call, f'{why}{changed}', _KEEP)
    if not _tells(cycle, normal) and _differs(cycle, normal):
        raise Broken(
            call,
            f'{why}the description changed, the node is done, and nothing '
            'says why',
            _KEEP,
        )
    _check_facts(cycle, normal, f'at {failure} {moment}')
    heal(trial, normal, f'{failure} {moment}')
    return True


def _in_changes(trial: Trial, fault: Fault, seams: Sequence[Seam]) -> int:
    """Try a fault at each call of ``changes``; return the number of faults.

    A later question begins before a change, so that the driver has something
    to tell.
    """
    if Capability.CHANGES not in trial.capabilities:
        return 0
    asking = Asking.begun(trial, trusts=False)
    since = asking.since
    if trial.world.change is not None:
        asking.after(trial.world.change)
        trial.sync()
    normal, _ = normal_cycles(trial)
    tried = 0
    for start in (None,) if since is None else (None, since):
        asking.since = start
        trial.watch.clear()
        asking.ask()
        calls = list(trial.watch.calls)
        for failure in _failures(trial, fault, seams, calls):
            asking.since = start
            tried += _try_asking(trial, asking, normal, failure)
    return tried


def _try_asking(
    trial: Trial, asking: Asking, normal: Normal, failure: watch.Failure
) -> bool:
    """Check one cell; return False if ``changes`` made no such call."""
    call = f'{recorder.question(asking.since)} at {failure}'
    names: frozenset[str] | None = frozenset()
    with trial.watch.failing(failure):
        try:
            names = asking.ask()
        except Broken:
            raise
        except Exception as exc:  # noqa: BLE001 (so the daemon)
            if failure.fault not in RAISING:  # CA018 itself tries these
                words.check_error(call, exc, number=words.MESSAGES)
    if not failure.hits:
        return False
    cycle = trial.cycle() if names is None else trial.cycle_of(names)
    changed = differences.between_contents(normal.held, trial.held())
    if changed:
        raise Broken(f'update_provider_tree after {call}', changed, _KEEP)
    _check_facts(cycle, normal, f'after {call}')
    heal(trial, normal, call)
    return True


def _finds_unknown(trial: Trial) -> bool:
    """Return True if the driver's evidence has a trait that is unknown."""
    try:
        return bool(trial.unknown_traits(trial.recorder.driver))
    except Exception:  # noqa: BLE001 (so it is said)
        return True


# --- the cells ----------------------------------------------------------------


def _failures(
    trial: Trial,
    fault: Fault,
    seams: Sequence[Seam],
    calls: Sequence[watch.Call],
) -> Iterator[watch.Failure]:
    """Yield the failures: each call with each bad answer that it can get."""
    for seam in seams:
        numbers = [call.number for call in calls if call.seam is seam]
        for number in spread(numbers, seam.most):
            variant = 0
            while True:
                failure = watch.Failure(
                    seam=seam, fault=fault, number=number, variant=variant
                )
                yield failure
                variant += 1
                if fault in RAISING or variant >= trial.watch.variants:
                    break


def spread(numbers: Sequence[int], most: int) -> list[int]:
    """Return at most so many of these, spread over all."""
    if len(numbers) <= most:
        return list(numbers)
    step = (len(numbers) - 1) / max(most - 1, 1)
    return [numbers[round(i * step)] for i in range(most)]


def _speaking(trial: Trial, fault: Fault) -> list[Seam]:
    """Return the seams that can have this fault; add notes about the others.

    :raises NotTried: the world has no seams
    :raises DoesNotApply: no seam can have this fault
    """
    if not trial.world.seams:
        raise NotTried(_NO_SEAMS)
    reasons = {
        f'{seam} cannot detect {fault.value}: {seam.silent[fault]}': None
        for seam in trial.world.seams
        if fault in seam.silent
    }
    trial.notes += reasons
    found = [s for s in trial.world.seams if fault not in s.silent]
    if not found:
        raise DoesNotApply('; '.join(reasons))
    return found


# --- a cycle without a fault, and the comparison with it ----------------------


def normal_cycles(trial: Trial) -> tuple[Normal, list[watch.Call]]:
    """Run cycles without a fault; return the calls of the first cycle."""
    trial.watch.clear()
    trial.quiet_cycle('a cycle without a fault')
    calls = list(trial.watch.calls)
    cycle = trial.steady_cycle('a cycle without a fault')
    normal = Normal(
        held=trial.held(),
        said=cycle.said,
        facts_of=cycle.facts_of,
        notes=cycle.notes,
    )
    return normal, calls


@contextlib.contextmanager
def _trusting(
    trial: Trial, normal: Normal
) -> Iterator[tuple[Normal, Sequence[watch.Call]]]:
    """Have the agent trust the facts; yield the calls of such a cycle.

    There are none if the driver has no facts.
    """
    if Capability.FACTS not in trial.capabilities:
        yield normal, ()
        return
    with trial.trusting_facts():
        trial.quiet_cycle('a first cycle of equal facts')
        trial.watch.clear()
        trial.quiet_cycle('a cycle of equal facts')
        calls = list(trial.watch.calls)
        yield dataclasses.replace(normal, trusts=True), calls


def _check_facts(cycle: Cycle, normal: Normal, when: str) -> None:
    """Check that the facts differ if a bad answer changes the description.

    With equal facts, the agent would not ask for the next description.
    """
    for node, said in cycle.said.items():
        facts, usual = cycle.facts_of.get(node), normal.facts_of.get(node)
        if facts is None or usual is None or facts != usual:
            continue
        if _is_another(said, normal.said.get(node)):
            raise Broken(
                f'facts({node!r}) {when}',
                'they are those of a cycle without the fault, and the '
                'description is another one',
                'return None, or other facts, while an answer that the '
                'description depends on is unknown',
                number=_FACTS,
            )


def heal(trial: Trial, normal: Normal, after: str) -> None:
    """Check that all is as before when the fault is over."""
    for _ in range(_HEALING):
        cycle = trial.cycle()
        left = cycle.trouble or differences.between_contents(
            normal.held, trial.held()
        )
        if not left:
            return
    raise Broken(
        f'update_provider_tree in the cycles after {after}',
        left,
        'keep nothing of an answer that was bad; ask again in the next cycle',
    )


def _tells(cycle: Cycle, normal: Normal) -> bool:
    """Return True if an error, a note or a keep_* tells of a failure."""
    if cycle.trouble or cycle.notes - normal.notes:
        return True
    for node, said in cycle.said.items():
        usual = normal.said.get(node)
        if usual is not None and said.keeps - usual.keeps:
            return True
    return False


def _differs(cycle: Cycle, normal: Normal) -> bool:
    """Return True if a node is missing, or described in another way."""
    if not normal.trusts and cycle.said.keys() != normal.said.keys():
        return True
    return any(
        _is_another(said, normal.said.get(node))
        for node, said in cycle.said.items()
    )


def _is_another(said: recorder.Said, usual: recorder.Said | None) -> bool:
    return (
        usual is None
        or said.asserted != usual.asserted
        or said.inventories != usual.inventories
    )
