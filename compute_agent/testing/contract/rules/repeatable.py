# SPDX-License-Identifier: Apache-2.0
"""The rules about repetition: equal worlds, equal descriptions."""

from collections.abc import Callable, Mapping
from typing import Any

from .... import errors
from ....virt import driver as virt
from ...values import bodies, differences, seam
from ...values.verdict import Broken, DoesNotApply, NotTried
from .. import describing
from ..recorder import Said
from ..trial import Trial

_SORT = (
    'sort what comes from a set or a mapping before the order has a meaning, '
    'for example in a name with a number'
)

_NAMES = (
    'tell the entries of a list by what they are called, and not by their '
    'places: a source may list them in another order tomorrow'
)
_ORDERS = (
    ('mappings in another order', seam.reordered, _SORT),
    (
        'lists in another order',
        seam.permuted,
        _NAMES,
    ),
)


def deterministic(trial: Trial) -> None:
    """Check that two drivers in the same world give the same description."""
    trial.sync()
    first = _described(trial, trial.make_driver())
    _compare(first, _described(trial, trial.make_driver()), 'a second driver')
    _compare_orders(trial, first)
    _compare_processes(trial)


def _compare_orders(trial: Trial, first: Mapping[str, Said]) -> None:
    """Compare the descriptions of answers in another order."""
    for title, edit, fix in _ORDERS:
        other = _reordered(trial, edit)
        if isinstance(other, errors.DriverError):
            trial.notes.append(f'the driver refuses {title}: {other}')
            continue
        _compare(
            first,
            other,
            f'a driver whose source gives {title}',
            plain=describing.unordered,
            fix=fix,
        )


def _reordered(
    trial: Trial, edit: Callable[[Any], Any]
) -> dict[str, Said] | errors.DriverError:
    """Return the descriptions of edited answers, or what the driver raised."""

    def alter(_: object, answer: Any) -> Any:
        return bodies.edited(answer, edit)

    with trial.watch.altering(alter):
        try:
            return _described(trial, trial.make_driver())
        except errors.DriverError as exc:
            return exc


def _compare_processes(trial: Trial) -> None:
    """Compare the descriptions of processes with other hash seeds."""
    if not trial.world.is_shared:
        trial.notes.append(
            'other hash seeds were not tried: World.is_shared is not set'
        )
        return
    differs = differences.between_descriptions(
        describing.describe_elsewhere(trial, 1),
        describing.describe_elsewhere(trial, 2),
    )
    if differs:
        raise Broken(
            'update_provider_tree in two processes with other hash seeds',
            differs,
            _SORT,
        )


def facts_are_honest(trial: Trial) -> None:
    """Check that equal facts mean an equal description."""
    trial.sync()
    driver = trial.make_driver()
    before = _with_facts(trial, driver)
    again = _with_facts(trial, driver)
    for node, (facts, said) in before.items():
        if facts is None:
            continue
        _check_steady(node, facts, again[node][0])
        _same_facts(node, said, again[node][1])
    if all(facts is None for facts, _ in before.values()):
        raise DoesNotApply('facts returns None for every node')
    if trial.world.change is None:
        trial.notes.append('no change was tried: World.change is not given')
        return
    trial.world.change()
    for node, (facts, said) in _with_facts(trial, driver).items():
        was = before.get(node)
        if was is not None and facts is not None and facts == was[0]:
            _same_facts(node, was[1], said)


def _check_steady(node: str, facts: object, again: object) -> None:
    if again != facts:
        raise Broken(
            f'facts({node!r})',
            'the facts of an unchanged world differ from cycle to cycle',
            'leave out of the facts what no description depends on, such as '
            'times and counters',
        )


def change_is_seen(trial: Trial) -> None:
    """Check that the next cycle reports a change of the world."""
    if trial.world.change is None:
        raise NotTried('World.change is not given')
    trial.sync()
    before = trial.held()
    trial.world.change()
    trial.sync()
    if not differences.between_contents(before, trial.held()):
        raise Broken(
            'update_provider_tree after World.change',
            'placement holds the same as before',
            'read the source in each cycle, at the latest in the second one '
            'after a change; or let World.change alter what is reported',
        )


def _with_facts(
    trial: Trial, driver: virt.ComputeDriver
) -> dict[str, tuple[object, Said]]:
    """List the nodes; return the facts and the description of each."""
    found = {}
    for node in driver.get_available_nodes():
        facts = driver.facts(node)
        found[node] = facts, describing.describe(trial, driver, node)
    return found


def _same_facts(node: str, said: Said, other: Said) -> None:
    differs = differences.between_descriptions(
        {node: describing.plain(said)}, {node: describing.plain(other)}
    )
    if differs:
        raise Broken(
            f'facts({node!r})',
            f'they are equal in two cycles, and {differs}',
            'return everything that the description depends on, as a value '
            'that is not edited later',
        )


def _described(trial: Trial, driver: virt.ComputeDriver) -> dict[str, Said]:
    return {
        node: describing.describe(trial, driver, node)
        for node in driver.get_available_nodes()
    }


def _compare(
    one: Mapping[str, Said],
    other: Mapping[str, Said],
    title: str,
    *,
    plain: Callable[[Said], dict[str, Any]] = describing.plain,
    fix: str = _SORT,
) -> None:
    differs = differences.between_descriptions(
        {node: plain(said) for node, said in one.items()},
        {node: plain(said) for node, said in other.items()},
    )
    if differs:
        raise Broken(
            f'update_provider_tree of {title} in the same world',
            differs,
            fix,
        )
