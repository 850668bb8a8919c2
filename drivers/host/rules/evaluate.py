# SPDX-License-Identifier: Apache-2.0
"""Apply rules to the facts of a host.

Pure: no I/O, configuration or logging; the clock is a parameter. A rule gives
all of its names or none: if its condition, a name or an amount is unknown, the
rule is unknown. A rule without ``when`` always gives its names. A rule that
needs a fact of the family ``local`` gives nothing while no file has that fact,
because a fact that expired must not be kept for ever. An evaluation
ends by the library's own budget. A rule that goes through many devices ends by
the time it took, and then it is unknown as a whole.

``Values`` has the facts as expressions take them: a fact that the host does not
have is null; one that is unknown is left out, so an expression that needs it is
unknown.
"""

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from compute_agent import errors
from compute_agent.tree import inventory, names

from ..facts.fact import Device, Fact, Facts
from .language.expression import Expression, Partly, Plain, Unknown, plain
from .rule import (
    DEVICE,
    LOCAL,
    NAME,
    NODE,
    Gift,
    Outcome,
    Rule,
    Verdict,
    Vocabulary,
)


class Values:
    """The values of one host.

    :param node: the name of the node's root provider
    """

    def __init__(self, facts: Facts, words: Vocabulary, node: str) -> None:
        self._facts = facts
        self._words = words
        self._devices: dict[tuple[str, str], dict[str, Plain]] = {}
        self._prefixed: dict[tuple[str, str], dict[str, Plain]] = {}
        self._host = {**self._of_host(), **self._of_families(), NODE: node}

    def for_device(self, device: Device | None) -> Mapping[str, Plain]:
        """Return the values for a rule, with those of its device if any."""
        if device is None:
            return self._host
        key = device.family, device.name
        if key not in self._prefixed:
            self._prefixed[key] = {
                f'{DEVICE}.{name}': value
                for name, value in self._of_device(device).items()
            }
        return collections.ChainMap(self._prefixed[key], self._host)

    def _of_host(self) -> dict[str, Plain]:
        lacking = (n for n in self._words.facts if self._facts.get(n) is None)
        return dict.fromkeys(lacking) | _known(self._facts.facts.items())

    def _of_families(self) -> dict[str, Plain]:
        found: dict[str, Plain] = {}
        for family in self._words.attributes.keys() | self._facts.devices:
            devices = self._facts.devices.get(family, ())
            if not isinstance(devices, Fact):
                found[family] = self._list(devices)
        return found

    def _list(self, devices: Sequence[Device]) -> list[Plain]:
        listed = [self._of_device(device) for device in devices]
        return listed if all(map(_is_known, devices)) else Partly(listed)

    def _of_device(self, device: Device) -> dict[str, Plain]:
        """Return attribute → value; null for one that the device lacks."""
        key = device.family, device.name
        if key not in self._devices:
            known = self._words.attributes.get(device.family, ())
            lacking = (name for name in known if name not in device.facts)
            self._devices[key] = {
                NAME: device.name,
                **dict.fromkeys(lacking),
                **_known(device.facts.items()),
            }
        return self._devices[key]


def _known(facts: Iterable[tuple[str, Fact]]) -> dict[str, Plain]:
    return {n: plain(fact.value) for n, fact in facts if not fact.unknown}


def _is_known(device: Device) -> bool:
    return not any(fact.unknown for fact in device.facts.values())


def gift_of_rule(
    rule: Rule, values: Mapping[str, Plain]
) -> Gift | Unknown | None:
    """Return the gift of a rule; None if its condition is false."""
    if rule.when is not None:
        holds = _holds(rule.when, values)
        if isinstance(holds, Unknown):
            return holds
        if not holds:
            return None
    return _given(rule, values)


def _given(rule: Rule, values: Mapping[str, Plain]) -> Gift | Unknown:
    child = child_name(rule, values)
    if isinstance(child, Unknown):
        return child
    traits = _given_traits(rule, values)
    if isinstance(traits, Unknown):
        return traits
    records = _inventory(rule, values)
    if isinstance(records, Unknown):
        return records
    return dataclasses.replace(traits, child=child, inventory=records)


def child_name(rule: Rule, values: Mapping[str, Plain]) -> str | Unknown:
    """Return the name of the child that a rule gives; empty for the root."""
    if rule.child is None:
        return ''
    found = rule.child.results(values)
    if isinstance(found, Unknown):
        return found
    if len(found) != 1:
        return Unknown(reason=f'{rule.child.text} gives {len(found)} names')
    try:
        return names.check_provider_name(found[0])
    except errors.InvalidName as exc:
        return Unknown(reason=str(exc))


def _given_traits(rule: Rule, values: Mapping[str, Plain]) -> Gift | Unknown:
    """Return the traits, by their own conditions."""
    found: dict[Verdict, set[str]] = {v: set() for v in Verdict}
    reasons: dict[str, str] = {}
    for trait in rule.traits:
        traits = trait.template.traits(values)
        if isinstance(traits, Unknown):
            return traits
        holds = True if trait.when is None else _holds(trait.when, values)
        if isinstance(holds, Unknown):
            reasons |= dict.fromkeys(traits, holds.reason)
        else:
            verdict = Verdict.GIVES if holds else Verdict.DOES_NOT
            found[verdict] |= traits
    given = found[Verdict.GIVES]
    return Gift(
        traits=frozenset(given),
        absent=frozenset(found[Verdict.DOES_NOT] - given - reasons.keys()),
        unknown={t: why for t, why in reasons.items() if t not in given},
    )


def _holds(when: Expression, values: Mapping[str, Plain]) -> bool | Unknown:
    holds = when.evaluate(values)
    if isinstance(holds, (bool, Unknown)):
        return holds
    return Unknown(reason='the condition gives neither true nor false')


def _inventory(
    rule: Rule, values: Mapping[str, Plain]
) -> dict[str, inventory.Record] | Unknown:
    """Return the records; a class whose total is 0 is left out."""
    found: dict[str, inventory.Record] = {}
    for rc, record in rule.inventory.items():
        amounts: dict[str, int | float] = {}
        for field, amount in record.items():
            number = _number(amount, values)
            if isinstance(number, Unknown):
                return Unknown(reason=f'{field} of {rc}: {number.reason}')
            amounts[field] = number
        if not amounts.get('total'):
            continue
        try:
            inventory.from_source(amounts)
        except errors.TreeError as exc:
            return Unknown(reason=f'{rc}: {exc}')
        found[rc] = amounts
    return found


def _number(
    amount: float | Expression, values: Mapping[str, Plain]
) -> int | float | Unknown:
    if not isinstance(amount, Expression):
        return amount
    value = amount.evaluate(values)
    if isinstance(value, Unknown):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        return Unknown(reason=f'{amount.text} gives no whole number')
    return value


#: The longest time of one rule, and of all rules, in seconds.
MAX_SECONDS = 1.0
MAX_SECONDS_OF_ALL = 5.0

Clock = Callable[[], float]


class Evaluation:
    """One evaluation of rules on one host.

    :param node: the name of the node's root provider
    :param clock: seconds, from any moment on
    """

    def __init__(
        self, facts: Facts, words: Vocabulary, node: str, clock: Clock
    ) -> None:
        self._facts = facts
        self._values = Values(facts, words, node)
        self._clock = clock
        self._ends = clock() + MAX_SECONDS_OF_ALL

    def outcomes(self, rules: Iterable[Rule]) -> Iterator[Outcome]:
        """Yield the outcomes of the rules that are on, in their order."""
        for rule in rules:
            if rule.enabled:
                yield from self._bounded(rule)

    # --- one rule ------------------------------------------------------------

    def _bounded(self, rule: Rule) -> list[Outcome]:
        """Return a rule's outcomes; a single unknown one if it is too slow."""
        ends = min(self._clock() + MAX_SECONDS, self._ends)
        found = []
        for outcome in self._of_rule(rule):
            found.append(outcome)
            if self._clock() > ends:
                reason = 'the rule takes too long here; make it simpler'
                return [_unknown(rule, reason)]
        return found

    def _of_rule(self, rule: Rule) -> Iterator[Outcome]:
        names = rule.references
        if not rule.for_each:
            yield self._outcome(rule, names, None)
            return
        devices = self._facts.devices.get(rule.for_each, ())
        if isinstance(devices, Fact):
            yield _unknown(rule, _why(devices), facts=(devices,))
            return
        for device in devices:
            yield self._outcome(rule, names, device)

    def _outcome(
        self, rule: Rule, names: Sequence[str], device: Device | None
    ) -> Outcome:
        values = self._values.for_device(device)
        facts = tuple(self._read(names, device))
        given: Gift | Unknown | None = gift_of_rule(rule, values)
        reason = given.reason if isinstance(given, Unknown) else ''
        absent = self._absent_local(names, facts)
        if reason in absent:
            given, reason = None, absent[reason]
        if isinstance(given, Gift) and absent:
            given = _without(given, absent)
        name = device.name if device is not None else ''
        if isinstance(given, Unknown):
            child = child_name(rule, values)
            return Outcome(
                rule=rule,
                verdict=Verdict.UNKNOWN,
                device=name,
                child=child if isinstance(child, str) else '',
                reason=_with_reasons(reason, facts),
                facts=facts,
            )
        return Outcome(
            rule=rule,
            verdict=Verdict.DOES_NOT if given is None else Verdict.GIVES,
            device=name,
            gift=given,
            child=given.child if given is not None else '',
            reason=reason,
            facts=facts,
        )

    def _absent_local(
        self, names: Iterable[str], facts: Iterable[Fact]
    ) -> dict[str, str]:
        """Return the reason of the library → the reason for people.

        This is only for local facts that no file has, and only if every other
        fact is known.
        """
        if any(fact.unknown for fact in facts):
            return {}
        return {
            f'{name} is unknown': f'no file has the fact {name}'
            for name in names
            if name.startswith(f'{LOCAL}.') and self._lacks(name)
        }

    def _lacks(self, name: str) -> bool:
        return self._facts.get(name) is None

    def _read(
        self, names: Iterable[str], device: Device | None
    ) -> Iterator[Fact]:
        """Yield the facts behind a rule's references."""
        for name in names:
            family, _, attribute = name.partition('.')
            if family == DEVICE and device is not None:
                if attribute in device.facts:
                    yield device.facts[attribute]
            elif '.' in name:
                found = self._facts.get(name)
                if found is not None:
                    yield found
            elif isinstance(listed := self._facts.devices.get(name), Fact):
                yield listed


def _without(gift: Gift, absent: Mapping[str, str]) -> Gift:
    """Return the gift without traits that need an absent local fact."""
    gone = {trait for trait, why in gift.unknown.items() if why in absent}
    return dataclasses.replace(
        gift,
        absent=gift.absent | gone,
        unknown={t: w for t, w in gift.unknown.items() if t not in gone},
    )


def _unknown(rule: Rule, reason: str, facts: tuple[Fact, ...] = ()) -> Outcome:
    return Outcome(
        rule=rule, verdict=Verdict.UNKNOWN, reason=reason, facts=facts
    )


def _why(fact: Fact) -> str:
    return f'{fact.name} is unknown: {fact.unknown}'


def _with_reasons(reason: str, facts: Iterable[Fact]) -> str:
    """Return the reason, with the cause if it names a fact that is unknown."""
    unread = [fact for fact in facts if fact.unknown]
    named = [f for f in unread if reason == f'{f.name} is unknown']
    if named:
        return _why(named[0])
    if not unread or reason.endswith('is unknown'):
        return reason
    return f'{reason} ({", ".join(_why(fact) for fact in unread)})'
