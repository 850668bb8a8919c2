# SPDX-License-Identifier: Apache-2.0
"""``compute-agent rules test``: what each rule gives, and why."""

import argparse
import dataclasses
import json
import typing
from collections.abc import Sequence

from oslo_config import cfg

from .. import errors
from ..virt.driver import ComputeDriver
from ..virt.values import rule_results
from .app import command, configuration

#: The driver whose rules are tried if the configured one has none.
_DRIVER = 'host'


class _DriverWithRules(ComputeDriver, rule_results.TriesRules):
    """A driver that can try its rules; only a type, for the checker."""


class RulesTest(command.Report):
    """Show what each rule gives on this host, and the facts behind it.

    The command needs no placement and writes nothing. A rule gives its
    names, does not (its condition is false), is unknown (a fact cannot be
    read, so its names stay as they are), or is off.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the rules and the file of facts."""
        parser.add_argument(
            'rules',
            nargs='*',
            metavar='RULE',
            help='Show only the rules with these names (default: all).',
        )
        parser.add_argument(
            '--facts',
            metavar='FILE',
            help='Use the facts in this file, the output of "compute-agent '
            'facts -f json" on another host, in place of the facts of this '
            'host.',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return the result of each rule; exit 1 if a name is no rule's."""
        driver = _driver(
            configuration.load(self.app.global_options, local=True)
        )
        node = driver.get_available_nodes()[0]
        results = driver.try_rules(node, parsed_args.facts)
        chosen = _chosen(results, parsed_args.rules)
        text = '\n'.join(line for r in chosen for line in lines(r))
        return [_data(r) for r in chosen], text or 'no rules', 0


def _driver(conf: cfg.ConfigOpts) -> _DriverWithRules:
    """Return the configured driver if it has rules, else the driver ``host``."""
    driver = configuration.load_driver_of(
        conf, rule_results.TriesRules, _DRIVER
    )
    return typing.cast(_DriverWithRules, driver)


def _chosen(
    results: Sequence[rule_results.RuleResult], names: Sequence[str]
) -> Sequence[rule_results.RuleResult]:
    """Return the results of the rules with these names.

    :raises errors.ConfigError: no rule has one of the names
    """
    known = {result.rule for result in results}
    for name in names:
        if name not in known:
            raise errors.ConfigError(
                f'there is no rule {name!r}; the rules are '
                f'{", ".join(sorted(known)) or "none"}'
            )
    return [r for r in results if not names or r.rule in names]


def lines(result: rule_results.RuleResult) -> list[str]:
    """Return the text about one result; the facts are below it."""
    about = f' for {result.device}' if result.device else ''
    why = f': {result.reason}' if result.reason else ''
    text = [f'{result.rule}{about}: {result.result}{why}  [{result.place}]']
    if result.result == 'gives':
        names = [*result.traits, *map(_amount, result.inventory.items())]
        text.append(
            f'    {result.provider or "root"}: {", ".join(names) or "nothing"}'
        )
    text += [
        f'    {trait}: unknown: {why}'
        for trait, why in result.unknown_traits.items()
    ]
    for fact in result.facts:
        value = f'unknown: {fact.unknown}' if fact.unknown else _value(fact)
        text.append(f'    {fact.name} = {value}  [{fact.source}]')
    return text


def _amount(record: tuple[str, typing.Mapping[str, float]]) -> str:
    rc, fields = record
    rest = [f'{k}={v}' for k, v in fields.items() if k != 'total']
    return ' '.join([rc, str(fields['total']), *rest])


def _value(fact: rule_results.SeenFact) -> str:
    longest = 60
    text = json.dumps(fact.value, ensure_ascii=False)
    return text if len(text) <= longest else f'{text[:longest]}…'


def _data(result: rule_results.RuleResult) -> dict[str, typing.Any]:
    return {
        **dataclasses.asdict(result),
        'traits': list(result.traits),
        'facts': [dataclasses.asdict(fact) for fact in result.facts],
    }
