# SPDX-License-Identifier: Apache-2.0
"""Apply rules to the facts of a host.

Pure: no I/O, configuration or logging; the clock is a parameter. A rule gives
all of its names or none: if its condition, a name or an amount is unknown, the
rule is unknown. A rule without ``when`` always gives its names. A rule that
needs a fact of the family ``local`` gives nothing while no file has that fact,
because a fact that expired must not be kept for ever. An evaluation
ends by the library's own budget. A rule that goes through many devices ends by
the time it took, and then it is unknown as a whole.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..facts.fact import Device, Fact, Facts
from . import gifts
from .language.expression import Unknown
from .outcome import Gift, Outcome, Verdict
from .rule import DEVICE, LOCAL, Rule
from .values import Values
from .vocabulary import Vocabulary

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
        """Return a rule's outcomes; one that is unknown if it is too slow."""
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
        values = self._values.of(device)
        facts = tuple(self._read(names, device))
        given: Gift | Unknown | None = gifts.gift(rule, values)
        reason = given.reason if isinstance(given, Unknown) else ''
        absent = self._absent_local(names, facts)
        if reason in absent:
            given, reason = None, absent[reason]
        if isinstance(given, Gift) and absent:
            given = _without(given, absent)
        name = device.name if device is not None else ''
        if isinstance(given, Unknown):
            child = gifts.child_name(rule, values)
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

        Only for local facts that no file has, if every other fact is known.
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
