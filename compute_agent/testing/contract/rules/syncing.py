# SPDX-License-Identifier: Apache-2.0
"""The rules about cycles: placement gets what a driver says, and keeps it."""

from collections.abc import Iterator, Mapping

from ....tree.assertion import Kind
from ...values import differences, plain
from ...values.differences import Held
from ...values.verdict import Broken, DoesNotApply
from .. import recorder
from ..trial import Cycle, Trial


def converges(trial: Trial) -> None:
    """Check that one cycle writes all that the driver says to placement."""
    done = trial.cycle()
    if done.trouble:
        raise Broken(
            next(iter(call for call, _ in done.raised), 'the first cycle'),
            f'the cycle is not done: {done.trouble}',
            'describe the node so that placement takes every name and amount',
        )
    _check_asserted(done)
    has = trial.placement.contents()
    for node, said in done.said.items():
        for (uuid, kind), one in said.asserted.items():
            found = has[uuid].names(kind.value) if uuid in has else set()
            lacking = sorted(one.names - found)
            if lacking:
                raise Broken(
                    f'update_provider_tree(…, {node!r})',
                    f'placement lacks the {kind.value} {lacking[0]} of '
                    f'provider {said.title(uuid)} after a cycle',
                    'describe only names that placement knows or can create',
                )


def _check_asserted(done: Cycle) -> None:
    """Check that there is something to bring to placement."""
    for said in done.said.values():
        if any(one.names or one.keep for one in said.asserted.values()):
            return
    raise Broken(
        'update_provider_tree',
        'no node has a name: no inventory, trait or aggregate',
        'describe the nodes of the world; or give the world a node that the '
        'driver has something to say of',
    )


def amounts_are_as_stated(trial: Trial) -> None:
    """Check that placement has what the author states of the world."""
    if trial.world.expected is None:
        raise DoesNotApply('World.expected is not given')
    trial.sync()
    held = trial.held()
    for name, wanted in plain.read(trial.world.expected).items():
        if name not in held:
            raise _not_as_stated(f'there is no provider {name}')
        row = held[name]
        for rc, record in (wanted.inventories or {}).items():
            _check_amount(
                f'{rc} of provider {name}',
                (row.get('inventories') or {}).get(rc),
                plain.short(record),
            )
        for kind in ('traits', 'aggregates'):
            lacking = (getattr(wanted, kind) or set()) - set(
                row.get(kind) or ()
            )
            for one in sorted(lacking):
                raise _not_as_stated(f'provider {name} lacks {one}')


def _check_amount(what: str, has: object, stated: object) -> None:
    """Compare a record with a stated one; with a number, only its total."""
    if isinstance(stated, int) and isinstance(has, Mapping):
        has = has['total']
    if has != stated:
        raise _not_as_stated(f'{what} is {has} and should be {stated}')


def _not_as_stated(saw: str) -> Broken:
    return Broken(
        'update_provider_tree',
        f'{saw}, as World.expected says',
        'report an amount in the unit of its resource class, such as MiB for '
        'MEMORY_MB and GiB for DISK_GB; or mend World.expected',
    )


def second_cycle_is_quiet(trial: Trial) -> None:
    """Check that a cycle in an unchanged world writes nothing."""
    trial.sync()


def restart_is_quiet(trial: Trial) -> None:
    """Check that a new driver gives the same description as the last one."""
    trial.sync()
    trial.restart()
    trial.quiet_cycle(
        'the first cycle after a restart',
        'describe a node from its source only, not from what earlier cycles '
        'found',
    )


def repairs(trial: Trial) -> None:
    """Check that names and children come back that another writer removed."""
    done = trial.sync()
    usual = trial.steady_cycle('a cycle in an unchanged world').notes
    before = trial.held()
    unknown = trial.unknown_traits(trial.recorder.driver)
    for said in done.said.values():
        _strip(trial, said, unknown)
    _check_repair(
        trial,
        usual,
        before,
        call='update_provider_tree after another writer removed names',
        fix='assert every name in every cycle, whether the tree has it or '
        'not; or say in a note why it stays away',
    )
    for said in done.said.values():
        _delete_children(trial, said)
    _check_repair(
        trial,
        usual,
        before,
        call='update_provider_tree after another writer deleted children',
        fix='create a child that the tree lacks, in every cycle; or say in a '
        'note why it stays away',
    )


def _check_repair(
    trial: Trial,
    usual: frozenset[str],
    before: Held,
    *,
    call: str,
    fix: str,
) -> None:
    """Check that one cycle restores everything; the next writes nothing."""
    if trial.held() == before:
        return
    cycle = _cycle_done(trial, call)
    now = trial.held()
    lost = list(_lost(before, now))
    told = sorted(cycle.notes - usual)
    of_lost = [next((t for t in told if _names(t, w)), '') for w in lost]
    changed = differences.between_contents(before, now)
    if changed and lost and all(of_lost):
        trial.notes.append(f'{changed}: the driver says so: {of_lost[0]}')
    elif changed:
        raise Broken(call, changed, fix)
    trial.quiet_cycle('the cycle after the repair')


def _lost(before: Held, now: Held) -> Iterator[tuple[str, str]]:
    """Yield provider and name for lost names; the name of a lost provider."""
    for provider, row in before.items():
        if provider not in now:
            yield provider, provider
            continue
        for kind in ('inventories', 'traits', 'aggregates'):
            has = now[provider].get(kind) or ()
            for name in row.get(kind) or ():
                if name not in has:
                    yield provider, name


def _names(note: str, lost: tuple[str, str]) -> bool:
    """Return True if a note names the lost name, or its provider."""
    return any(word in note for word in lost)


def _strip(trial: Trial, said: recorder.Said, unknown: frozenset[str]) -> None:
    """Remove what a driver asserted, as another writer."""
    others = trial.placement.others
    for (uuid, kind), one in said.asserted.items():
        if one.keep or not one.names:
            continue
        if kind is Kind.TRAIT:
            others.remove_traits(uuid, *(one.names - unknown))
        elif kind is Kind.AGGREGATE:
            kept = others.aggregates(uuid) - one.names
            others.set_aggregates(uuid, *sorted(kept))
        else:
            rest = others.inventories(uuid)
            others.set_inventories(
                uuid, {rc: r for rc, r in rest.items() if rc not in one.names}
            )


def _delete_children(trial: Trial, said: recorder.Said) -> None:
    """Delete the children that a driver described, as another writer."""
    described = {uuid for uuid, _ in said.asserted}
    for uuid, _, parent in reversed(said.providers):
        if parent is not None and uuid in described:
            trial.placement.others.delete(uuid)


def _cycle_done(trial: Trial, call: str) -> Cycle:
    cycle = trial.cycle()
    if cycle.trouble:
        raise Broken(
            call,
            f'the cycle is not done: {cycle.trouble}',
            'describe the node from its source, whatever the tree has',
        )
    return cycle
