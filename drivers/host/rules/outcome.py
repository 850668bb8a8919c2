# SPDX-License-Identifier: Apache-2.0
"""The outcome of a rule: what it gives on one host, and why.

Pure: no I/O, configuration, logging or clock. ``evaluate.py`` makes the values;
``placing.py``, ``findings.py`` and ``report.py`` read them.
"""

import dataclasses
import enum
from collections.abc import Mapping

from compute_agent.tree import inventory as inventory_module

from ..facts.fact import Fact
from .rule import Rule


class Verdict(enum.Enum):
    """The result of a rule's condition."""

    GIVES = 'gives'
    DOES_NOT = 'does not give'
    UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gift:
    """The names that a rule gives to one provider.

    :ivar child: the name of the child; empty for the root
    :ivar absent: traits whose own condition is false
    :ivar unknown: traits whose own condition is unknown → why
    """

    child: str = ''
    traits: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    unknown: Mapping[str, str] = dataclasses.field(default_factory=dict)
    inventory: Mapping[str, inventory_module.Record] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one rule, for the host or for one device.

    :ivar device: the device's name; empty for a rule about the host, and if
        the devices cannot be listed
    :ivar gift: what the rule gives, if the verdict is ``GIVES``
    :ivar child: the child's name as far as it is known, also if the verdict
        is not ``GIVES``
    :ivar reason: why the verdict is ``UNKNOWN``
    :ivar facts: the facts that the rule read
    """

    rule: Rule
    verdict: Verdict
    device: str = ''
    gift: Gift | None = None
    child: str = ''
    reason: str = ''
    facts: tuple[Fact, ...] = ()
