# SPDX-License-Identifier: Apache-2.0
"""The names that an expression may use.

Pure: no I/O, configuration, logging or clock. The names of facts are known
before any host is read, so a misspelt one is a mistake of the file.
"""

import dataclasses
import typing
from collections.abc import Collection, Iterable, Mapping

from .rule import DEVICE, FAMILIES, NAME, NODE


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names of facts, and of the attributes of each family of devices."""

    facts: frozenset[str]
    attributes: Mapping[str, frozenset[str]]

    @classmethod
    def of_names(cls, names: Iterable[str]) -> typing.Self:
        """Return the vocabulary of these names of facts, devices' included."""
        attributes: dict[str, set[str]] = {
            family: set() for family in FAMILIES
        }
        facts: set[str] = set()
        for name in names:
            family, _, attribute = name.partition('.')
            if family in attributes:
                attributes[family].add(attribute)
            else:
                facts.add(name)
        return cls(
            facts=frozenset(facts),
            attributes={f: frozenset(n) for f, n in attributes.items()},
        )

    def names(self, for_each: str = '') -> Collection[str]:
        """Return the names for a rule: facts, lists of devices, the device."""
        known = {*self.facts, *self.attributes, NODE}
        if for_each:
            of_family = {NAME, *self.attributes.get(for_each, ())}
            known |= {f'{DEVICE}.{name}' for name in of_family}
        return frozenset(known)
