# SPDX-License-Identifier: Apache-2.0
"""Say in words why a tree does not meet a requirement, with the facts.

Pure: no I/O, configuration, logging or clock. ``why_not/search.py`` found out
that the requirement fails. This module picks the provider that comes nearest
to meeting it, and says what that provider lacks. ``why_not/why_not.py`` calls
it.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from .neighbourhood import NearProvider, Neighbourhood
from .requirements import Kind, Requirement

# The provider that comes nearest to the requirements, and facts about it.
Facts = tuple[NearProvider, str]

# Facts about requirements of the whole request; the root stands for the tree.
_OF_ROOT = {
    Kind.ROOT_REQUIRED: 'the root does not have this trait',
    Kind.ROOT_FORBIDDEN: 'the root has this trait',
    Kind.ISOLATE: 'there is no separate provider for each group',
    Kind.SAME_SUBTREE: (
        'no provider that meets one of these groups is above those that meet '
        'the others'
    ),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Words the failed requirements of one request for one tree.

    :ivar amounts: group → resource class → amount that is asked for
    """

    near: Neighbourhood
    amounts: Mapping[str, Mapping[str, int]]

    def describe(self, parts: Sequence[Requirement]) -> Facts:
        """Return the nearest provider to these requirements, and its facts."""
        if len(parts) == 1:
            return self._single(parts[0])
        facts = [self._one_of_several(part) for part in parts]
        text = '; '.join(dict.fromkeys(text for _, text in facts))
        return facts[0][0], f'each can be met, but not together: {text}'

    def _single(self, part: Requirement) -> Facts:
        root = self.near.root
        match part.kind:
            case Kind.RESOURCE:
                return self._amount(part)
            case Kind.REQUIRED | Kind.ANY_OF:
                return self._trait(part)
            case Kind.FORBIDDEN:
                return self._forbidden(part), 'it has this trait'
            case Kind.MEMBER_OF | Kind.NOT_MEMBER_OF:
                return self._member(part)
            case Kind.IN_TREE:
                return root, f'it is in another tree, that of {root.name}'
            case _:
                return root, _OF_ROOT[part.kind]

    def _one_of_several(self, part: Requirement) -> Facts:
        """Return the facts about a requirement that conflicts with others."""
        if part.kind is Kind.RESOURCE:
            nearest, text = self._amount(part)
            return nearest, f'{part.names[0]}: {text} on {nearest.name}'
        if part.kind in {Kind.REQUIRED, Kind.ANY_OF}:
            holders = [p for p in self.near.providers if p.has_any(part.names)]
            having = ', '.join(p.name for p in holders) or 'no provider'
            names = ' or '.join(part.names)
            return (holders or [self.near.root])[0], f'{having} has {names}'
        nearest, text = self._single(part)
        return nearest, f'{part.text}: {nearest.name}: {text}'

    def _amount(self, part: Requirement) -> Facts:
        (rc,), amount = part.names, part.amount
        having = self.near.having(rc)
        if not having:
            text = self._no_provider('has none', 'has any')
            if self.near.shares:
                text += ', so a tree that it shares with must provide it'
            return self.near.root, f'{amount} asked; {text}'
        nearest = max(having, key=lambda p: _nearness(p, rc, amount))
        facts = [
            f'{amount} asked',
            _stock(nearest, rc),
            *_unit_limits(nearest, rc, amount),
        ]
        if nearest in self.near.sharing and nearest.can_provide(rc, amount):
            own = self.near.root.name
            facts.append(
                f'it could provide that, but {own} would provide nothing'
            )
        return nearest, ', '.join(facts)

    def _trait(self, part: Requirement) -> Facts:
        nearest = self._able(part)[0]
        holders = [p for p in self.near.providers if p.has_any(part.names)]
        if holders:
            nearest = max(holders, key=lambda p: self._provided(p, part))
            names = ', '.join(sorted(nearest.traits & set(part.names)))
            return nearest, f'it has {names}, but {self._lacks(nearest, part)}'
        if part.kind is Kind.REQUIRED:
            texts = 'does not have this trait', 'has this trait'
        else:
            texts = 'has none of these traits', 'has any of these traits'
        return nearest, self._no_provider(*texts)

    def _forbidden(self, part: Requirement) -> NearProvider:
        able = [*self._able(part), *self.near.providers]
        return next((p for p in able if p.has_any(part.names)), able[0])

    def _member(self, part: Requirement) -> Facts:
        able = [*self._able(part), *self.near.providers]
        nearest = able[0]
        if part.kind is Kind.NOT_MEMBER_OF:
            nearest = next((p for p in able if p.is_in(part.names)), nearest)
        names = ', '.join(sorted(nearest.aggregates)) or 'no aggregate'
        return nearest, f'it is in {names}'

    def _lacks(self, provider: NearProvider, part: Requirement) -> str:
        """Return the requirements that a provider with the trait fails."""
        asked = self.amounts.get(part.group, {})
        for rc, amount in asked.items():
            if rc in provider.inventories and not provider.can_provide(
                rc, amount
            ):
                limits = _unit_limits(provider, rc, amount)
                facts = ', '.join([_stock(provider, rc), *limits])
                return f'{rc}: {amount} asked, {facts}'
        missing = [rc for rc in asked if rc not in provider.inventories]
        if missing:
            return f'no {" and no ".join(missing)}'
        return 'it does not meet the rest of its group'

    def _no_provider(self, of_root: str, of_tree: str) -> str:
        """Return the text that says that no provider in reach has a property.

        :param of_root: the predicate for a root without children
        :param of_tree: the predicate after "no provider in its tree"
        """
        if len(self.near.tree) == 1:
            text = f'{self.near.root.name} {of_root}'
        else:
            text = f'no provider in its tree {of_tree}'
        if self.near.sharing:
            text += ', nor has any provider that shares with it'
        return text

    def _provided(self, provider: NearProvider, part: Requirement) -> int:
        """Return how many amounts of the group a provider could provide."""
        asked = self.amounts.get(part.group, {})
        return sum(
            provider.can_provide(rc, amount) for rc, amount in asked.items()
        )

    def _able(self, part: Requirement) -> list[NearProvider]:
        """Return providers that could provide an amount of the group.

        Without such providers, the result is the root alone.
        """
        able = [p for p in self.near.providers if self._provided(p, part)]
        return able or [self.near.root]


def _nearness(
    provider: NearProvider, rc: str, amount: int
) -> tuple[bool, bool, int]:
    """Return the sort key: larger is nearer to providing the amount."""
    within_limits = not _unit_limits(provider, rc, amount)
    return (
        provider.can_provide(rc, amount),
        within_limits,
        provider.free(rc),
    )


def _stock(provider: NearProvider, rc: str) -> str:
    """Return the free amount of a class, and the numbers behind it."""
    record = provider.inventories[rc]
    return (
        f'{provider.free(rc)} of {provider.capacity(rc)} free (total '
        f'{record.total}, reserved {record.reserved}, used '
        f'{provider.used.get(rc, 0)}, ratio {record.allocation_ratio})'
    )


def _unit_limits(provider: NearProvider, rc: str, amount: int) -> list[str]:
    """Return the limits that an amount breaks, however much is free."""
    record = provider.inventories[rc]
    found = []
    if amount < record.min_unit:
        found.append(f'at least {record.min_unit} at a time (min_unit)')
    if amount > record.max_unit:
        found.append(f'at most {record.max_unit} at a time (max_unit)')
    if amount % record.step_size:
        found.append(f'multiples of {record.step_size} only (step_size)')
    return found
