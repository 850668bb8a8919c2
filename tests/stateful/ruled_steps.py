# SPDX-License-Identifier: Apache-2.0
"""Steps of the second driver of node n4: its rules and facts come and go.

Each method of ``RuledSteps`` is one step of ``machine.Machine``.
"""

import dataclasses


class RuledSteps:
    """Changes of ``world.Ruled``; as on SIGHUP, the driver reads its rules."""

    def rules_in_force(self, on):
        self._ruled('rules in force', on=frozenset(on))

    def fact_of_rules(self, gold):
        self._ruled('fact of rules', gold=gold)

    def cards(self, vendors):
        self._ruled('cards', cards=vendors)

    def second_driver(self, behaviour):
        self._ruled(f'second driver: {behaviour}', behaviour=behaviour)

    def _ruled(self, rule, **changed):
        driver = self._stations['two'].ruled
        driver.wanted = dataclasses.replace(driver.wanted, **changed)
        driver.reload()
        self._note(rule)
