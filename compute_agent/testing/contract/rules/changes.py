# SPDX-License-Identifier: Apache-2.0
"""The rules about changes: a hint that costs little and spoils nothing.

A change that ``changes`` leaves out costs only time, so no rule requires that
a driver tells a certain change.
"""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ...values import differences
from ...values.differences import Held
from ...values.seam import RAISING
from ...values.verdict import Broken, DoesNotApply, NotTried
from .. import watch
from ..asking import Asking
from ..capability import Capability
from ..recorder import question
from ..trial import Cycle, Trial

_MANY = 8  # nodes, so many that a list costs more than a question
_SETTLING = 2  # cycles in which placement follows a changed world
_SINCE = question(since=0)
_DESCRIBES = 'facts and update_provider_tree'
_LEAVES = 'CA029'

_REREAD = (
    'when changes returns, facts and update_provider_tree work with what it '
    'has read of the named nodes, and all else is as before'
)
_LIST = (
    'read all nodes in get_available_nodes, and trust nothing that changes '
    'has read before'
)

_Alter = Callable[[], object]


# --- an unchanged world -------------------------------------------------------


def unchanged_world(trial: Trial) -> None:
    """Check that nothing is named in an unchanged world, at little cost."""
    if trial.world.nodes is not None:
        trial.world.nodes(_MANY)
    asking = Asking.begun(trial)
    trial.watch.clear()
    names = asking.ask()
    asked = len(trial.watch.calls)
    _check_none_is_named(names)
    if not trial.world.seams:
        trial.notes.append('the world has no seams to count the calls of')
        return
    _check_cost(trial, asked)


def _check_none_is_named(names: frozenset[str] | None) -> None:
    if names is None or names:
        raise Broken(
            _SINCE,
            f'in an unchanged world, its second answer after a list is '
            f'{_told(names)}',
            'compare with the last reading: what is named gets a cycle, '
            'every few seconds',
        )


def _check_cost(trial: Trial, asked: int) -> None:
    """Compare the calls of a question with those of a cycle of all nodes."""
    trial.watch.clear()
    trial.quiet_cycle('a cycle of equal facts')
    cycle = len(trial.watch.calls)
    calls = (
        f'calls through the seams: {asked} of changes, {cycle} of a cycle of '
        'all nodes'
    )
    if asked > 1 and asked >= cycle:
        raise Broken(
            _SINCE,
            f'it costs as much as a cycle; {calls}',
            'ask the source only for what changed; if it cannot tell that at '
            'little cost, leave changes out',
        )
    trial.notes.append(calls)


# --- named nodes --------------------------------------------------------------


def named_nodes_are_described(trial: Trial) -> None:
    """Check that a cycle of the named nodes writes the changes."""
    named: list[frozenset[str] | None] = []
    for title, alter in _alterations(trial, sizes=(2, 3)):
        names = _follow(trial, title, alter)
        trial.notes.append(f'after {title} changes answers: {_told(names)}')
        named.append(names)
    if any(named):
        return
    if None in named:
        raise DoesNotApply('its answer is None: all nodes then get a cycle')
    raise NotTried(
        'changes tells neither World.change nor World.nodes: let one of them '
        'alter something that it tells'
    )


def _follow(trial: Trial, title: str, alter: _Alter) -> frozenset[str] | None:
    """Run a cycle of the nodes that changes names; compare with a list."""
    asking = Asking.begun(trial)
    asking.after(alter)
    names = asking.ask()
    if not names:
        return names
    cycle = trial.cycle_of(names)
    when = f'the cycle of the nodes that changes named after {title}'
    _check_done(cycle, when, _REREAD)
    before = trial.held()
    trial.restart()
    trial.sync()
    roots = {result.node.name for result in cycle.results}
    changed = differences.between_contents(
        _trees(before, roots), _trees(trial.held(), roots)
    )
    if changed:
        raise Broken(
            f'{_DESCRIBES} in {when}',
            f'only with a list of all nodes, {changed}',
            _REREAD,
        )
    return names


def _trees(held: Held, roots: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Return the providers of the trees with these roots."""

    def root(name: str) -> str:
        parent = held[name].get('parent')
        return root(parent) if parent else name

    return {name: row for name, row in held.items() if root(name) in roots}


# --- the next list ------------------------------------------------------------


def next_list_is_right(trial: Trial) -> None:
    """Check that a list is right although the last answer was lost."""
    tried = False
    for title, alter in _alterations(trial, sizes=(2, 3, 2)):
        asking = Asking.begun(trial)
        asking.after(alter)
        asking.ask()
        _check_list(trial, f'after changes told {title}')
        tried = True
    if not tried:
        raise NotTried('neither World.change nor World.nodes is given')


def _check_list(trial: Trial, when: str) -> None:
    """Compare the next cycle with that of a new driver, which asked nothing."""
    before = _settled(trial, when)
    trial.restart()
    changed = differences.between_contents(before, _settled(trial, when))
    if changed:
        raise Broken(
            f'get_available_nodes() {when}',
            f'only with a new driver, {changed}',
            _LIST,
        )


def _settled(trial: Trial, when: str) -> Held:
    """Run cycles of all nodes; return what placement holds then."""
    for _ in range(_SETTLING):
        _check_done(trial.cycle(), f'the cycle of all nodes {when}', _LIST)
    return trial.held()


def _check_done(cycle: Cycle, when: str, fix: str) -> None:
    if cycle.trouble:
        usual = 'get_nodenames_by_uuid()' if cycle.error else _DESCRIBES
        call = next((call for call, _ in cycle.raised), usual)
        raise Broken(f'{call} in {when}', cycle.trouble, fix)


# --- departed nodes -----------------------------------------------------------


def departed_node_is_not_named(trial: Trial) -> None:
    """Check that a node that left its source is not named."""
    if Capability.SEVERAL_NODES not in trial.capabilities:
        raise DoesNotApply('the driver describes one node, which never leaves')
    nodes = trial.world.nodes
    if nodes is None:
        raise NotTried('World.nodes is not given')
    nodes(3)
    asking = Asking.begun(trial)
    before = frozenset(trial.recorder.driver.get_available_nodes())
    asking.after(lambda: nodes(2))
    names = asking.ask()
    left = before.difference(trial.make_driver().get_available_nodes())
    if len(left) != 1:
        raise Broken(
            'get_available_nodes() after World.nodes(2)',
            f'{len(left)} of 3 nodes left the list',
            'list the nodes that the source has now',
            number=_LEAVES,
        )
    _check_stays_unnamed(names or frozenset(), left)


def _check_stays_unnamed(names: frozenset[str], left: frozenset[str]) -> None:
    if names & left:
        raise Broken(
            _SINCE,
            f'it names {min(left)}, which the source has no more',
            'leave out nodes that left: only get_available_nodes tells of them',
        )


# --- failures -----------------------------------------------------------------


def failure_is_raised(trial: Trial) -> None:
    """Check that changes raises if a source fails, and forgets nothing.

    Three drivers see the same change. One of the drivers meets no failure. Of
    the others, one is asked again afterwards, and one only lists its nodes.
    """
    if not trial.world.seams:
        raise NotTried(
            'the world has no seams: the driver asks nothing outside, or '
            'World.seams is not given'
        )
    listing = Asking.begun(trial)
    unharmed, again = _listed(trial), _listed(trial)
    if trial.world.change is not None:
        listing.after(trial.world.change)
    trial.watch.clear()
    usual = unharmed.ask()
    seams = list({id(c.seam): c.seam for c in trial.watch.calls}.values())
    if not seams:
        raise DoesNotApply('changes makes no call through the seams')
    for seam in seams:
        for fault in RAISING:
            failure = watch.Failure(seam=seam, fault=fault)
            _check_raises(trial, listing, failure)
            _check_raises(trial, again, failure)
    trial.notes.append(f'{len(seams) * len(RAISING)} failures tried')
    _check_is_told(again.ask(), usual)
    _check_list(trial, 'after changes failed')


def _listed(trial: Trial) -> Asking:
    """Return the questions to another driver that listed its nodes."""
    driver = trial.make_driver()
    asking = Asking(trial, driver)
    asking.ask()
    driver.get_available_nodes()
    asking.ask()
    return asking


def _check_raises(
    trial: Trial, asking: Asking, failure: watch.Failure
) -> None:
    """Check that changes raises, or names nodes in spite of the failure."""
    since = asking.since
    with trial.watch.failing(failure):
        try:
            answer = asking.ask()
        except Broken:
            raise
        except Exception:  # noqa: BLE001 (the rule about messages looks)
            return
    asking.since = since
    if failure.hits and not answer:
        raise Broken(
            f'{question(since)} while {failure.seam} ends with '
            f'{failure.fault.value}',
            f'it returned, and its answer is {_told(answer)}',
            'raise DriverError: the daemon tells it once, and asks again with '
            'the same since',
        )


def _check_is_told(
    names: frozenset[str] | None, usual: frozenset[str] | None
) -> None:
    """Check that an answer after failures names the changed nodes.

    :param usual: the answer of a driver that did not fail
    """
    if names is None or (usual is not None and usual <= names):
        return
    raise Broken(
        f'{_SINCE} after it failed',
        f'its answer is {_told(names)}; without the failure it is '
        f'{_told(usual)}',
        'forget a change only when the answer has it: the daemon asks again '
        'with the same since',
    )


# --- the world ----------------------------------------------------------------


def _alterations(
    trial: Trial, sizes: Sequence[int]
) -> Iterator[tuple[str, _Alter]]:
    """Yield name and function for each way to alter the world of a trial.

    :param sizes: numbers of nodes, one after the other; the first is only set
    """
    world = trial.world
    if world.change is not None:
        yield 'World.change', world.change
    if world.nodes is not None:
        first, *later = sizes
        world.nodes(first)
        for size in later:
            alter = functools.partial(world.nodes, size)
            yield f'World.nodes({size})', alter


def _told(names: frozenset[str] | None) -> str:
    """Return an answer in words."""
    if names is None:
        return 'None, that is any node'
    return f'the nodes {", ".join(sorted(names))}' if names else 'no node'
