# SPDX-License-Identifier: Apache-2.0
"""The rules about what a driver claims: authority, evidence, allocations."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import os_traits

from ....ownership import policy
from ....tree import names
from ....tree.assertion import Kind
from ....virt import driver as virt
from ....virt.values import finding
from ...values.differences import Held
from ...values.verdict import Broken, DoesNotApply, NotTried
from ..recorder import Said
from ..trial import Trial

# Consumer → class → amount.
_Amounts = dict[str, dict[str, int]]

_CONSUMER = '{:08x}-0000-4000-8000-000000000000'
_AGENT = (names.COMPUTE_NODE, names.MISC_SHARES_VIA_AGGREGATE)
_RESHAPING = 'update_provider_tree(…, allocations)'
_ANOTHER = 'CUSTOM_OF_ANOTHER_WRITER'


def authority_is_narrow(trial: Trial) -> None:
    """Check that the driver decides each trait that its authority covers."""
    cycle = trial.sync()
    driver = trial.recorder.driver
    found = _found(driver)
    asserted = _traits(cycle.said.values())
    for entry in policy.check_authority(driver.authority):
        trial.notes += _check_known(entry, asserted, found)
        _check_pattern(entry, driver)
        for trait in _covered(entry, {*_AGENT, _ANOTHER} - asserted):
            raise _too_wide(entry, trait, 'other writers give it')
        standard = set(os_traits.get_traits()) if found else set[str]()
        for trait in _covered(entry, standard - found.keys() - asserted):
            raise _too_wide(entry, trait, 'evidence has no finding of it')


def _check_known(
    entry: str, asserted: set[str], found: Mapping[str, finding.Found]
) -> list[str]:
    """Check that the driver can tell each trait of an entry, on every node.

    :returns: a note if it is a custom trait, which may be that of a state in
        which nothing is now
    """
    covered = _covered(entry, {*asserted, *found})
    if not covered and names.is_custom(entry) and not entry.endswith('*'):
        return [f'the driver says nothing of {entry}, which it decides']
    if not covered:
        raise _too_wide(entry, entry, 'the driver says nothing of it')
    for trait in covered:
        if found.get(trait) is finding.Found.UNKNOWN:
            raise _too_wide(entry, trait, 'it is unknown by evidence')
    return []


def _check_pattern(entry: str, driver: virt.ComputeDriver) -> None:
    """Check that evidence names the traits that a pattern decides."""
    if entry.endswith('*') and not isinstance(driver, finding.Evidence):
        raise Broken(
            'authority',
            f'{entry} is a pattern, and the driver has no evidence of what it '
            'decides',
            'name each trait, or write the method evidence',
        )


def _found(driver: virt.ComputeDriver) -> dict[str, finding.Found]:
    """Return trait → the driver's decision by evidence, if it has any.

    A trait that is unknown on one node counts as unknown.
    """
    found: dict[str, finding.Found] = {}
    if not isinstance(driver, finding.Evidence):
        return found
    for node in driver.get_available_nodes():
        for one in driver.evidence(node):
            is_worse = one.found is finding.Found.UNKNOWN
            if one.trait and (is_worse or one.trait not in found):
                found[one.trait] = one.found
    return found


def evidence_of_each_trait(trial: Trial) -> None:
    """Check that each trait has a finding, and each finding its fact."""
    cycle = trial.sync()
    driver = trial.recorder.driver
    if not isinstance(driver, finding.Evidence):
        raise DoesNotApply('the driver has no method evidence')
    for node, said in cycle.said.items():
        call = f'evidence({node!r})'
        findings = driver.evidence(node)
        for one in findings:
            if one.found is finding.Found.PRESENT and not one.fact:
                raise Broken(
                    call,
                    f'the finding of {one.trait} has no fact',
                    'give each finding the raw fact, as its source spells it',
                )
        _check_findings(call, said, findings)


def reshape_keeps_allocations(trial: Trial) -> None:
    """Check that each consumer has the same amounts after a reshape."""
    before = _before_reshape(trial)
    cycle = trial.cycle()
    if cycle.trouble:
        raise Broken(
            _RESHAPING,
            f'the cycle is not done: {cycle.trouble}',
            'raise ReshapeNeeded, and move each amount to a provider of the '
            'same tree',
        )
    counted_as = trial.recorder.counted_as
    _check_amounts(
        _amounts(before, counted_as), _amounts(trial.held(), counted_as)
    )
    if _places(trial.held()) == _places(before):
        raise Broken(
            _RESHAPING,
            'no allocation moved after World.reshape or World.reported',
            'raise ReshapeNeeded if inventory in use moves; or let '
            'World.reshape move inventory',
        )
    trial.quiet_cycle('the cycle after the reshape')


def _before_reshape(trial: Trial) -> Held:
    """Have inventory with allocations where the driver will move it away.

    :returns: what placement holds, with the allocations
    """
    if trial.world.reported is not None:
        trial.placement.plant(trial.world.reported())
        return trial.held()
    if trial.world.reshape is None:
        raise NotTried('World.reshape is not given')
    trial.sync()
    trial.placement.plant(dict(_allocations(trial.held())))
    before = trial.held()
    trial.world.reshape()
    return before


def _check_amounts(before: _Amounts, after: _Amounts) -> None:
    for consumer, amounts in before.items():
        if after.get(consumer) != amounts:
            raise Broken(
                _RESHAPING,
                f'consumer {consumer} had {amounts} and has '
                f'{after.get(consumer)}',
                'move amounts; neither free nor allocate any',
            )


def _too_wide(entry: str, trait: str, why: str) -> Broken:
    return Broken(
        'authority',
        f'{entry} covers {trait}: {why}',
        'name only traits that the driver decides now; the agent removes each '
        'other that matches, whoever added it',
    )


def _covers(entry: str, trait: str) -> bool:
    return policy.Policy(authority={'driver': (entry,)}).decides(
        'driver', trait
    )


def _covered(entry: str, traits: set[str]) -> list[str]:
    return sorted(trait for trait in traits if _covers(entry, trait))


def _traits(every: Iterable[Said]) -> set[str]:
    return {
        name
        for said in every
        for (_, kind), one in said.asserted.items()
        if kind is Kind.TRAIT
        for name in one.names
    }


def _check_findings(
    call: str, said: Said, findings: Sequence[finding.Finding]
) -> None:
    roots = {name for _, name, parent in said.providers if parent is None}
    of_provider: dict[str, set[str | None]] = {}
    for each in findings:
        if each.found is not finding.Found.ABSENT:
            of_provider.setdefault(each.provider, set()).add(each.trait)
    for (uuid, kind), one in said.asserted.items():
        if kind is not Kind.TRAIT:
            continue
        title = said.title(uuid)
        has = of_provider.get(title, set())
        has = has | of_provider.get('', set()) if title in roots else has
        lacking = sorted(one.names - has)
        if lacking:
            raise Broken(
                call,
                f'it has no finding of {lacking[0]} of provider {title}',
                'return a finding for each trait of the description; name a '
                'child in Finding.provider',
            )


def _allocations(
    held: Held,
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield for each provider two consumers that use each class of it."""
    number = itertools.count(1)
    for name, row in held.items():
        resources = {
            rc: amount
            for rc, given in (row.get('inventories') or {}).items()
            if (amount := _amount(given))
        }
        if resources:
            consumers = [_CONSUMER.format(next(number)) for _ in range(2)]
            yield name, {'allocations': dict.fromkeys(consumers, resources)}


def _amount(given: int | Mapping[str, float]) -> int:
    """Return what each of two consumers can have of a class, 0 for nothing."""
    record = given if isinstance(given, Mapping) else {'total': given}
    step = int(record.get('step_size', 1))
    amount = math.ceil(record.get('min_unit', 1) / step) * step
    free = record['total'] - record.get('reserved', 0)
    fits = free * record.get('allocation_ratio', 1) >= 2 * amount
    return amount if fits else 0


def _amounts(held: Held, counted_as: Mapping[str, str]) -> _Amounts:
    """Return consumer → class → amount, summed over all providers.

    :param counted_as: a resource class → the class as which its amounts count
    """
    found: dict[str, dict[str, int]] = {}
    for row in held.values():
        for consumer, resources in (row.get('allocations') or {}).items():
            sums = found.setdefault(consumer, {})
            for rc, amount in resources.items():
                same = counted_as.get(rc, rc)
                sums[same] = sums.get(same, 0) + amount
    return found


def _places(held: Held) -> dict[str, object]:
    return {
        name: row['allocations']
        for name, row in held.items()
        if row.get('allocations')
    }
