# SPDX-License-Identifier: Apache-2.0
"""The rules about changes of the world: nothing of the old one is left.

After each change, placement must have what a fresh driver gives an empty
placement. The changes are those that the world can make, and those that its
answers allow: one value is another one, or a list has an entry less.
"""

import contextlib
import dataclasses
import typing
from collections.abc import Callable, Iterator

from ....cycle.node import node_result
from ....tree import names
from ...values import alterations, differences
from ...values.differences import Held
from ...values.verdict import Broken, DoesNotApply, NotTried
from ..capability import Capability
from ..trial import Cycle, Trial

_MOST = 30  # values of the answers that change, and half as many lists
_CYCLES = 2  # in which a change must be in placement
_NODES = (3, 1, 2)
_FIX = (
    'describe everything from the reading of this cycle: remove the children '
    'that it lacks, declare what it has, have all of it in facts, and call '
    'keep_* only for what could not be read'
)


def world_changes(trial: Trial) -> None:
    """Check placement after each change that the world can make."""
    changes = list(_changes(trial))
    if not changes:
        raise NotTried('World.change is not given')
    running = _Comparing.begun(trial, trusts=_has_facts(trial))
    with contextlib.ExitStack() as stack:
        with trial.aside() as other:
            stack.callback(other.close)
            stopped = _Comparing.begun(trial, trusts=False)
        for title, change in changes:
            change()
            running.compare(f'after {title}')
            with trial.aside(other):
                _compare_stopped(stopped, title)


def _compare_stopped(comparing: '_Comparing', title: str) -> None:
    """Compare placement after a change while no driver was there."""
    comparing.compare(f'after {title} while the agent was stopped')


def answers_change(trial: Trial) -> None:
    """Check placement after a change of each value in the answers."""
    if not trial.world.seams:
        raise NotTried(
            'the world has no seams: the driver asks nothing outside, or '
            'World.seams is not given'
        )
    if all(seam.is_derived for seam in trial.world.seams):
        raise DoesNotApply('each answer is made from those of other sources')
    tried = _try_answers(trial, trusts=False)
    if _has_facts(trial):
        tried += _try_answers(trial, trusts=True)
    if not tried:
        raise NotTried(
            'no answer of the seams has a value that the suite can change: '
            'name a seam that returns plain data, JSON or YAML'
        )
    trial.notes.append(f'{tried} changes of answers tried')


def _try_answers(trial: Trial, *, trusts: bool) -> int:
    """Try each change of an answer; return their number."""
    with contextlib.ExitStack() as stack, trial.aside() as other:
        stack.callback(other.close)
        comparing = _Comparing.begun(trial, trusts=trusts)
        with trial.watch.recording() as answers:
            trial.cycle()
        found = alterations.alterations(
            answers, most=_MOST, with_versions=trusts
        )
        for one in found:
            with trial.watch.altering(one.altered):
                comparing.compare(f'after {one.place}')
        return len(found)


def _changes(trial: Trial) -> Iterator[tuple[str, Callable[[], object]]]:
    world = trial.world
    if world.change is not None:
        yield 'World.change', world.change
    if world.nodes is not None:
        for count in _NODES:
            yield f'World.nodes({count})', _nodes(trial, count)
    if world.reshape is not None:
        yield 'World.reshape', world.reshape


def _nodes(trial: Trial, count: int) -> Callable[[], object]:
    def change() -> None:
        assert trial.world.nodes is not None  # noqa: S101 (for mypy)
        trial.world.nodes(count)

    return change


def _has_facts(trial: Trial) -> bool:
    return Capability.FACTS in trial.capabilities


@dataclasses.dataclass(slots=True, kw_only=True)
class _Comparing:
    """A driver in a world that changes, compared with fresh ones.

    :ivar usual: its notes before the first change
    """

    trial: Trial
    usual: frozenset[str]

    @classmethod
    def begun(cls, trial: Trial, *, trusts: bool) -> typing.Self:
        """Run a cycle, so that placement has the world as it is.

        :param trusts: True if the agent asks for no description while the
            facts of a node are equal
        """
        trial.sync()
        trial.recorder.gives_facts = trusts
        usual = trial.steady_cycle('a cycle in an unchanged world')
        return cls(trial=trial, usual=usual.notes)

    def compare(self, when: str) -> None:
        """Run cycles, and compare placement with that of a fresh driver.

        A driver that says that it cannot describe this world may leave
        everything as it is.
        """
        differs, wanted = '', None
        for _ in range(_CYCLES):
            cycle = self._cycle()
            if _refused(cycle) or cycle.notes - self.usual:
                return
            wanted = wanted or self.trial.fresh()
            if _refused(wanted[0]):
                return
            differs = differences.left_over(
                wanted[1], _of_nodes(self.trial.held(), wanted[1])
            )
            if not differs:
                return
        trusting = ', in a cycle that trusts the facts'
        raise Broken(
            f'update_provider_tree {when}'
            + trusting * self.trial.recorder.gives_facts,
            f'{differs}, by what a fresh driver gives an empty placement',
            _FIX,
        )

    def _cycle(self) -> Cycle:
        """Run a cycle; if a node has a new name, rename its provider first.

        The agent asks an operator to do that, who has ``resource provider rename``.
        """
        cycle = self.trial.cycle()
        return self.trial.cycle() if self._rename(cycle) else cycle

    def _rename(self, cycle: Cycle) -> bool:
        placement = self.trial.placement
        held = placement.contents()
        renamed = False
        for uuid, name in _listed(cycle).items():
            has = {one.name for one in held.values()}
            if uuid in held and held[uuid].name != name and name not in has:
                placement.put(f'/resource_providers/{uuid}', {'name': name})
                renamed = True
        return renamed


def _refused(cycle: Cycle) -> bool:
    """Return True if the cycle of a node that is listed has an error."""
    return bool(cycle.error) or any(
        not one.is_settled
        for one in cycle.results
        if one.status is not node_result.Status.LEFT
    )


def _listed(cycle: Cycle) -> dict[str, str]:
    """Return uuid → name of the nodes that the driver listed."""
    return {
        one.node.uuid: one.node.name
        for one in cycle.results
        if one.status is not node_result.Status.LEFT
    }


def _of_nodes(held: Held, fresh: Held) -> Held:
    """Return what placement holds, without the nodes that left.

    A driver need not be able to tell that a node is gone.
    """
    kept = {}
    for name, row in held.items():
        root, top = name, row
        while top.get('parent'):
            root = top['parent']
            top = held[root]
        is_node = names.COMPUTE_NODE in (top.get('traits') or ())
        if root in fresh or not is_node:
            kept[name] = row
    return kept
