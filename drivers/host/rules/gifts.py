# SPDX-License-Identifier: Apache-2.0
"""The gift of one rule for given values: child, traits and inventory.

Pure: no I/O, configuration, logging or clock. If one of its names or amounts
is unknown, the gift is unknown. ``evaluate.py`` finds the values and calls
this.
"""

import dataclasses
from collections.abc import Mapping

from compute_agent import errors
from compute_agent.tree import inventory, names

from .language.expression import Expression, Plain, Unknown
from .outcome import Gift, Verdict
from .rule import Rule


def gift(rule: Rule, values: Mapping[str, Plain]) -> Gift | Unknown | None:
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
    traits = _traits(rule, values)
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


def _traits(rule: Rule, values: Mapping[str, Plain]) -> Gift | Unknown:
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
            inventory.Inventory.from_record(amounts)
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
