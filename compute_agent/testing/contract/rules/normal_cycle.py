# SPDX-License-Identifier: Apache-2.0
"""A cycle without a fault, and the comparison of a cycle with a fault to it.

The rules about failures of the world outside call it: ``unknown.py``.
"""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from .. import contents, recorder
from ..capability import Capability
from ..outside import watch
from ..rule import Broken
from ..trial import Cycle, Trial
from . import steady

_HEALING = 2  # cycles after a fault in which all must be as before
_FACTS = 'CA023'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A cycle without a fault.

    :ivar trusts: True if the agent trusts the facts, and so may ask for no
        description
    """

    held: contents.Held
    said: Mapping[str, recorder.Said]
    facts_of: Mapping[str, object]
    notes: frozenset[str]
    trusts: bool = False


def run(trial: Trial) -> tuple[Normal, list[watch.Call]]:
    """Run cycles without a fault; return the calls of the first of them."""
    trial.watch.clear()
    trial.quiet_cycle('a cycle without a fault')
    calls = list(trial.watch.calls)
    cycle = steady.quiet_cycle(trial, 'a cycle without a fault')
    normal = Normal(
        held=trial.held(),
        said=cycle.said,
        facts_of=cycle.facts_of,
        notes=cycle.notes,
    )
    return normal, calls


@contextlib.contextmanager
def trusting(
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


def check_facts(cycle: Cycle, normal: Normal, when: str) -> None:
    """Check that a description of a bad answer has facts of its own.

    The agent would not ask for the next one, whatever it reports.
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
        left = cycle.trouble or contents.difference(normal.held, trial.held())
        if not left:
            return
    raise Broken(
        f'update_provider_tree in the cycles after {after}',
        left,
        'keep nothing of an answer that was bad; ask again in the next cycle',
    )


def tells(cycle: Cycle, normal: Normal) -> bool:
    """Return True if an error, a note or a keep_* tells of a failure."""
    if cycle.trouble or cycle.notes - normal.notes:
        return True
    for node, said in cycle.said.items():
        usual = normal.said.get(node)
        if usual is not None and said.keeps - usual.keeps:
            return True
    return False


def differs(cycle: Cycle, normal: Normal) -> bool:
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
