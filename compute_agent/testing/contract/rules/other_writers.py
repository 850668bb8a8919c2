# SPDX-License-Identifier: Apache-2.0
"""The rules about other writers: their names, providers and allocations stay."""

import itertools
from collections.abc import Iterator

import os_traits

from ....ownership import policy
from ....tree import names
from ....tree.assertion import Kind
from ...values import differences
from ...values.differences import Held
from ...values.verdict import Broken
from ..capability import Capability
from ..recorder import Said
from ..trial import Cycle, Trial

_CUSTOM = 'CUSTOM_OF_ANOTHER_WRITER'
_AGENT = (*names.AGENT_TRAITS, names.MISC_SHARES_VIA_AGGREGATE)
_AGGREGATE = '6f0b8c5e-2f6d-4c39-9a3e-5d3a8f1c7e55'
_VERBS = {
    Kind.TRAIT: 'traits',
    Kind.AGGREGATE: 'aggregates',
    Kind.INVENTORY: 'inventory',
}
_CHILD = 'child of another writer below {}'
_ROOT = 'root of another writer'
_SHARING = 'sharing provider of another writer'


def names_stay(trial: Trial) -> None:
    """Check that the names of another writer stay on described providers."""
    done = trial.sync()
    planted = list(_plant_names(trial, done))
    for title in ('a cycle', 'the first cycle after a restart'):
        done = _cycle(trial, title)
        for uuid, kind, name in planted:
            _check_stays(trial, done, uuid, kind, name)
        trial.restart()


def providers_stay(trial: Trial) -> None:
    """Check that the providers of another writer stay as they are."""
    done = trial.sync()
    planted = _plant_providers(trial, done)
    for title in ('a cycle', 'the first cycle after a restart'):
        _check_removals(_cycle(trial, title), planted, title)
        now = trial.held()
        changed = differences.between_contents(
            planted, {n: now[n] for n in planted if n in now}
        )
        if changed:
            raise Broken(
                f'update_provider_tree in {title} beside another writer',
                changed,
                'edit and remove only providers that the driver creates',
            )
        trial.restart()


def _check_removals(done: Cycle, planted: Held, title: str) -> None:
    """Check that each description keeps the other writer's providers.

    The agent refuses to delete it, so placement does not show the attempt.
    """
    removed = {
        name for said in done.said.values() for name in said.removed.values()
    }
    for name in sorted(removed & planted.keys()):
        raise Broken(
            f'remove({name!r}) in {title}',
            'another writer created this provider, and the agent refuses to '
            'delete it, in each cycle',
            'remove only providers that the driver creates: tell them by their '
            'names',
        )


def _plant_names(trial: Trial, done: Cycle) -> Iterator[tuple[str, Kind, str]]:
    others = trial.placement.others
    for said in done.said.values():
        standard = _standard(trial, said)
        for uuid in {uuid for uuid, _ in said.asserted}:
            traits = [
                _CUSTOM,
                names.COMPUTE_STATUS_DISABLED,
                *standard,
            ]
            others.add_traits(uuid, *traits)
            others.set_aggregates(
                uuid, *sorted({*others.aggregates(uuid), _AGGREGATE})
            )
            others.change_inventory(uuid, _CUSTOM, total=1)
            yield from ((uuid, Kind.TRAIT, trait) for trait in traits)
            yield uuid, Kind.AGGREGATE, _AGGREGATE
            yield uuid, Kind.INVENTORY, _CUSTOM


def _standard(trial: Trial, said: Said) -> list[str]:
    """Return a standard trait that the driver does not mention, if any."""
    decided = _decided(trial)
    asserted = {n for one in said.asserted.values() for n in one.names}
    unknown = trial.unknown_traits(trial.recorder.driver)
    free = (
        trait
        for trait in sorted(os_traits.get_traits())
        if trait not in asserted | unknown
        and trait not in _AGENT
        and not decided.decides('driver', trait)
    )
    return list(itertools.islice(free, 1))


def _check_stays(
    trial: Trial, done: Cycle, uuid: str, kind: Kind, name: str
) -> None:
    has = trial.placement.contents()
    if uuid in has and name in has[uuid].names(kind.value):
        return
    said = next(
        s
        for s in done.said.values()
        if any(u == uuid for u, *_ in s.providers)
    )
    asserted = said.asserted.get((uuid, kind))
    is_complete = asserted is not None and asserted.exclusive
    if _may_go(trial, kind, name, is_complete=is_complete):
        return
    verb = _VERBS[kind]
    raise Broken(
        f'update_{verb} of provider {said.title(uuid)}'
        if is_complete
        else f'update_provider_tree, for provider {said.title(uuid)}',
        f'the {kind.value} {name} of another writer is gone',
        f'call declare_{verb}, which leaves the names of others alone; a '
        'driver that alone decides its providers declares '
        'Capability.COMPLETE_LISTS',
    )


def _may_go(trial: Trial, kind: Kind, name: str, *, is_complete: bool) -> bool:
    """Return True if the driver may remove a name of another writer.

    :param is_complete: it gave the complete list of the provider's names
    """
    if is_complete and name != names.COMPUTE_STATUS_DISABLED:
        declared = Capability.COMPLETE_LISTS in trial.capabilities
        return declared or kind is Kind.INVENTORY
    return kind is Kind.TRAIT and _decided(trial).decides('driver', name)


def _decided(trial: Trial) -> policy.Policy:
    """Return the rules of the driver's authority."""
    authority = trial.recorder.driver.authority
    return policy.Policy(authority={'driver': authority})


def _plant_providers(trial: Trial, done: Cycle) -> Held:
    """Have another writer create providers; return them."""
    before = set(trial.held())
    content = {'inventories': {_CUSTOM: 3}, 'traits': [_CUSTOM]}
    rows: dict[str, dict[str, object]] = {
        _ROOT: dict(content),
        _SHARING: {
            **content,
            'traits': [_CUSTOM, names.MISC_SHARES_VIA_AGGREGATE],
            'aggregates': [_AGGREGATE],
        },
    }
    for said in done.said.values():
        for _, name, parent in said.providers:
            rows[_CHILD.format(name)] = {**content, 'parent': name}
            if parent is None and name in before:
                rows[name] = {'aggregates': [_AGGREGATE]}
    trial.placement.plant(rows)
    return {n: row for n, row in trial.held().items() if n not in before}


def _cycle(trial: Trial, title: str) -> Cycle:
    done = trial.cycle()
    if done.trouble:
        raise Broken(
            f'update_provider_tree in {title} beside another writer',
            f'the cycle is not done: {done.trouble}',
            "leave another writer's names and providers in the tree as they "
            'are',
        )
    return done
