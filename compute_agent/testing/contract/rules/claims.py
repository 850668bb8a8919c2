# SPDX-License-Identifier: Apache-2.0
"""The rules about what a driver claims: authority, evidence, allocations."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import os_traits

from ....ownership import policy
from ....tree import names
from ....tree.assertion import Kind
from ....virt import finding
from .. import contents
from ..recorder import Said
from ..rule import Broken, DoesNotApply
from ..trial import Trial

_CONSUMER = '{:08x}-0000-4000-8000-000000000000'
_AGENT = (names.COMPUTE_NODE, names.MISC_SHARES_VIA_AGGREGATE)
_ANOTHER = 'CUSTOM_OF_ANOTHER_WRITER'


def authority_is_narrow(trial: Trial) -> None:
    """Check that the driver decides each trait that its authority covers."""
    cycle = trial.sync()
    driver = trial.recorder.driver
    given = policy.check_authority(driver.authority)
    evidence = isinstance(driver, finding.Evidence)
    found = {
        one.trait: one.found
        for node in driver.get_available_nodes()
        if evidence
        for one in driver.evidence(node)  # type: ignore[attr-defined]
        if one.trait
    }
    asserted = _traits(cycle.said.values())
    for entry in given:
        covered = _covered(entry, {*asserted, *found})
        for trait in (*_AGENT, _ANOTHER):
            if _covers(entry, trait) and trait not in asserted:
                raise _too_wide(entry, trait, 'other writers give it')
        if entry.endswith('*') and not covered:
            raise _too_wide(entry, entry, 'the driver says nothing of it')
        for trait in sorted(covered):
            if found.get(trait) is finding.Found.UNKNOWN:
                raise _too_wide(entry, trait, 'it is unknown by evidence')
        if not found:
            continue
        for trait in _covered(entry, set(os_traits.get_traits())):
            if trait not in found and trait not in asserted:
                raise _too_wide(entry, trait, 'evidence has no finding of it')


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
    if trial.world.reshape is None:
        raise DoesNotApply('World.reshape is not given')
    trial.sync()
    trial.placement.plant(dict(_allocations(trial.held())))
    before = _amounts(trial.held())
    where = _places(trial.held())
    trial.world.reshape()
    call = 'update_provider_tree(…, allocations)'
    cycle = trial.cycle()
    if cycle.trouble:
        raise Broken(
            call,
            f'the cycle is not done: {cycle.trouble}',
            'raise ReshapeNeeded, and move each amount to a provider of the '
            'same tree',
        )
    after = _amounts(trial.held())
    for consumer, amounts in before.items():
        if after.get(consumer) != amounts:
            raise Broken(
                call,
                f'consumer {consumer} had {amounts} and has '
                f'{after.get(consumer)}',
                'move amounts; neither free nor allocate any',
            )
    if _places(trial.held()) == where:
        raise Broken(
            call,
            'no allocation moved after World.reshape',
            'raise ReshapeNeeded if inventory in use moves; or let '
            'World.reshape move inventory',
        )
    trial.quiet_cycle('the cycle after the reshape')


def _too_wide(entry: str, trait: str, why: str) -> Broken:
    return Broken(
        'authority',
        f'{entry} covers {trait}: {why}',
        'name only traits that the driver decides now; the agent removes each '
        'other that matches, whoever added it',
    )


def _covers(entry: str, trait: str) -> bool:
    return policy.Policy(node_uuid='', authority={'driver': (entry,)}).decides(
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
    held: contents.Held,
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield for each provider two consumers that use each class of it."""
    number = 0
    for name, row in held.items():
        consumers = {}
        for _ in range(2):
            number += 1
            resources = {}
            for rc, given in (row.get('inventories') or {}).items():
                record = (
                    given if isinstance(given, Mapping) else {'total': given}
                )
                step = record.get('step_size', 1)
                least = record.get('min_unit', 1)
                amount = math.ceil(least / step) * step
                if (record['total'] - record.get('reserved', 0)) * record.get(
                    'allocation_ratio', 1
                ) >= 2 * amount:
                    resources[rc] = amount
            if resources:
                consumers[_CONSUMER.format(number)] = resources
        if consumers:
            yield name, {'allocations': consumers}


def _amounts(held: contents.Held) -> dict[str, dict[str, int]]:
    """Return consumer → class → amount, wherever it is allocated."""
    found: dict[str, dict[str, int]] = {}
    for row in held.values():
        for consumer, resources in (row.get('allocations') or {}).items():
            sums = found.setdefault(consumer, {})
            for rc, amount in resources.items():
                same = 'VCPU' if rc == 'PCPU' else rc
                sums[same] = sums.get(same, 0) + amount
    return found


def _places(held: contents.Held) -> dict[str, object]:
    return {
        name: row['allocations']
        for name, row in held.items()
        if row.get('allocations')
    }
