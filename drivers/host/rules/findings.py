# SPDX-License-Identifier: Apache-2.0
"""The evidence for the traits that rules give, down to rule and fact.

Pure: no I/O, configuration, logging or clock. ``probe`` and ``explain`` show
the findings, ``rules test`` the results.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from compute_agent.virt.values import finding, rule_results

from ..facts.fact import Fact, Value
from .rule import Outcome, Rule, Verdict

_FOUND = {
    Verdict.GIVES: finding.Found.PRESENT,
    Verdict.DOES_NOT: finding.Found.ABSENT,
    Verdict.UNKNOWN: finding.Found.UNKNOWN,
}
_LONGEST = 60


def findings(outcomes: Iterable[Outcome]) -> list[finding.Finding]:
    """Return a finding for each trait that a rule gives or could give."""
    return [found for outcome in outcomes for found in _findings(outcome)]


def results(
    rules: Iterable[Rule], outcomes: Iterable[Outcome]
) -> list[rule_results.RuleResult]:
    """Return the result of each rule and device; rules that are off, too."""
    by_rule: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_rule.setdefault(outcome.rule.name, []).append(outcome)
    return [result for rule in rules for result in _results(rule, by_rule)]


def _results(
    rule: Rule, by_rule: Mapping[str, list[Outcome]]
) -> Iterator[rule_results.RuleResult]:
    found = by_rule.get(rule.name, [])
    for outcome in found:
        gift = outcome.gift
        yield rule_results.RuleResult(
            rule=rule.name,
            place=rule.place,
            result=outcome.verdict.value,
            device=outcome.device,
            provider=outcome.child,
            traits=tuple(sorted(gift.traits)) if gift else (),
            unknown_traits=dict(gift.unknown) if gift else {},
            inventory=dict(gift.inventory) if gift else {},
            reason=_reason(outcome),
            facts=tuple(map(_seen, outcome.facts)),
        )
    if not found:
        yield rule_results.RuleResult(
            rule=rule.name,
            place=rule.place,
            result=rule_results.OFF
            if not rule.enabled
            else Verdict.DOES_NOT.value,
            reason=''
            if not rule.enabled
            else f'this host has no device of the family {rule.for_each}',
        )


def _reason(outcome: Outcome) -> str:
    when = outcome.rule.when
    if outcome.verdict is Verdict.DOES_NOT and when and not outcome.reason:
        return f'{shown(when.text)} is false'
    return outcome.reason


def _findings(outcome: Outcome) -> Iterator[finding.Finding]:
    rule = outcome.rule
    about = f' for {outcome.device}' if outcome.device else ''
    for trait, found, reason in sorted(_decided(outcome), key=lambda t: t[0]):
        yield finding.Finding(
            trait=trait,
            found=found,
            fact=f'rule {rule.name}{about}',
            sources=(
                rule.place,
                *(_text(_seen(fact)) for fact in outcome.facts),
            ),
            reason=reason,
            provider=outcome.child,
        )


def _decided(outcome: Outcome) -> Iterator[tuple[str, finding.Found, str]]:
    """Yield each trait with the decision about it and the reason."""
    gift = outcome.gift
    if gift is None:
        for trait in outcome.rule.traits:
            if trait.template.is_constant:
                found = _FOUND[outcome.verdict]
                yield trait.template.text, found, _reason(outcome)
        return
    if outcome.child:
        yield outcome.rule.marker, finding.Found.PRESENT, ''
    for name in gift.traits:
        yield name, finding.Found.PRESENT, ''
    for name in gift.absent:
        yield name, finding.Found.ABSENT, _own_condition(outcome.rule, name)
    for name, why in gift.unknown.items():
        yield name, finding.Found.UNKNOWN, why


def _own_condition(rule: Rule, name: str) -> str:
    texts = [
        shown(trait.when.text)
        for trait in rule.traits
        if trait.when is not None and trait.template.text == name
    ]
    return f'{", ".join(texts)} is false' if texts else ''


def _seen(fact: Fact) -> rule_results.SeenFact:
    return rule_results.SeenFact(
        name=fact.name,
        value=None if fact.unknown else plain(fact.value),
        source=fact.source,
        unknown=fact.unknown,
    )


def _text(seen: rule_results.SeenFact) -> str:
    value = 'unknown' if seen.unknown else shown(json.dumps(seen.value))
    return f'{seen.name} = {value} ({seen.source})'


def plain(value: Value) -> object:
    """Return a fact's value as JSON has it."""
    match value:
        case tuple() | list():
            return [plain(item) for item in value]
        case Mapping():
            return {key: plain(item) for key, item in value.items()}
        case _:
            return value


def shown(text: str) -> str:
    """Return a text on one line of limited length."""
    line = ' '.join(text.split())
    return line if len(line) <= _LONGEST else f'{line[:_LONGEST]}…'
