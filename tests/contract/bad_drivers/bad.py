# SPDX-License-Identifier: Apache-2.0
"""Drivers with one defect, each with a check too weak to see it.

A bad driver breaks one rule. The suite must fail it with a message that names
the rule, the call and the fix. A weak variant of the rule's check lets it pass:
so it is this rule, and this part of its check, that finds the defect.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import rack
import variants

from compute_agent import testing
from compute_agent.testing.contract.rules import catalogue
from compute_agent.virt import driver

Check = Callable[[Any], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bad:
    """A driver that breaks one rule.

    :ivar call: the call that the message names
    :ivar fix: words of the advice in the message
    :ivar weak: the agent with a weaker check, which the driver passes
    :ivar found_by: the rule whose check finds it, if it is another one
    :ivar check: the weaker check itself, where no part can be replaced
    :ivar world: makes the world of the driver
    :ivar capabilities: those that its author declares
    :ivar always: what is replaced for both checks, so that they are quick
    """

    driver: type[driver.ComputeDriver]
    number: str
    call: str
    fix: str
    weak: variants.Variant
    found_by: str = ''
    check: Check | None = None
    world: Callable[[], testing.World] = rack.world
    always: Sequence[variants.Constant] = ()
    capabilities: Sequence[testing.Capability] = rack.CAPABILITIES

    def __str__(self) -> str:
        return f'{self.number}-{self.driver.__name__}'

    @property
    def finder(self) -> catalogue.Rule:
        """The rule whose check finds it."""
        return catalogue.BY_NUMBER[self.found_by or self.number]

    @property
    def rule(self) -> catalogue.Rule:
        """The rule that the driver breaks."""
        return catalogue.BY_NUMBER[self.number]


DRIVERS: list[Bad] = []


def breaks(
    number: str,
    *,
    call: str,
    fix: str,
    weak: tuple[object, ...],
    **more: Any,
) -> Callable[[type], type]:
    """Make the decorated class the bad driver of a rule.

    :param weak: the weakness of the variant in words, and its plants
    """

    def take(driver_class: type) -> type:
        DRIVERS.append(
            Bad(
                driver=driver_class,
                number=number,
                call=call,
                fix=fix,
                weak=variants.Variant(*weak),
                **more,
            )
        )
        return driver_class

    return take
