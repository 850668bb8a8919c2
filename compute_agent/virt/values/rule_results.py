# SPDX-License-Identifier: Apache-2.0
"""The result of a driver's rules, as ``compute-agent rules test`` shows it.

Pure: no I/O, configuration, logging or clock. This part of the contract is
optional: the command works with drivers that have the method ``try_rules``.
"""

import dataclasses
import typing
from collections.abc import Mapping, Sequence

#: The result of a rule that is off.
OFF = 'off'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeenFact:
    """A fact that a rule read.

    :ivar value: plain data, as in JSON
    :ivar unknown: why it is unknown; empty if it is known
    """

    name: str
    value: object
    source: str
    unknown: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """The result of one rule, for the host or for one device.

    :ivar place: the file and line of the rule
    :ivar result: ``gives``, ``does not give``, ``unknown`` or ``off``
    :ivar provider: the child that the rule is about; empty for the root
    :ivar unknown_traits: traits that cannot be decided → why
    :ivar reason: why it does not give anything, or is unknown
    """

    rule: str
    place: str
    result: str
    device: str = ''
    provider: str = ''
    traits: tuple[str, ...] = ()
    inventory: Mapping[str, Mapping[str, int | float]] = dataclasses.field(
        default_factory=dict
    )
    unknown_traits: Mapping[str, str] = dataclasses.field(default_factory=dict)
    reason: str = ''
    facts: tuple[SeenFact, ...] = ()


@typing.runtime_checkable
class TriesRules(typing.Protocol):
    """The method of a driver that can try its rules."""

    def try_rules(
        self, nodename: str, saved: str | None = None
    ) -> Sequence[RuleResult]:
        """Return the results of all rules on a node.

        :param saved: the path of a file with the output of ``compute-agent
            facts -f json``, in place of the facts of this host
        :raises errors.ConfigError: a rule file or the file of facts is wrong
        """
        ...
