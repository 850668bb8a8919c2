# SPDX-License-Identifier: Apache-2.0
"""Why a tree does not meet a requirement, in words with its facts.

Pure: no I/O, configuration, logging or clock. That it does not is known
already (``why_not.py``); here the provider is found that comes nearest, and
what of it stands in the way is said.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from .neighbourhood import Standing, Vicinity
from .requirements import Kind, Requirement

Said = tuple[Standing, str]

# What is said of a request as a whole, of the root.
_OF_ROOT = {
    Kind.ROOT_REQUIRED: 'the root does not have this trait',
    Kind.ROOT_FORBIDDEN: 'the root has this trait',
    Kind.ISOLATE: 'not every group finds a provider of its own',
    Kind.SAME_SUBTREE: 'none of those that meet the groups is above the rest',
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Puts the requirements of one request into words for one tree.

    :ivar amounts: group → resource class → what is asked of it
    """

    near: Vicinity
    amounts: Mapping[str, Mapping[str, int]]

    def said(self, parts: Sequence[Requirement]) -> Said:
        """Return who comes nearest to these requirements, and what it lacks."""
        if len(parts) == 1:
            return self._one(parts[0])
        facts = [self._of_several(part) for part in parts]
        text = '; '.join(dict.fromkeys(text for _, text in facts))
        return facts[0][0], f'each can be met, but not together: {text}'

    def _one(self, part: Requirement) -> Said:
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
                return root, f'its tree is another, that of {root.name}'
            case _:
                return root, _OF_ROOT[part.kind]

    def _of_several(self, part: Requirement) -> Said:
        """Return the fact about one of several that do not go together."""
        if part.kind is Kind.RESOURCE:
            nearest, text = self._amount(part)
            return nearest, f'{part.names[0]}: {text} on {nearest.name}'
        if part.kind in {Kind.REQUIRED, Kind.ANY_OF}:
            holders = [o for o in self.near.near if o.has_any(part.names)]
            some = ', '.join(one.name for one in holders) or 'nobody'
            which = ' or '.join(part.names)
            return (holders or [self.near.root])[0], f'{some} has {which}'
        nearest, text = self._one(part)
        return nearest, f'{part.text}: {nearest.name}: {text}'

    def _amount(self, part: Requirement) -> Said:
        (rc,), amount = part.names, part.amount
        able = self.near.having(rc)
        if not able:
            none = self._nobody('has none', 'has any')
            if self.near.shares:
                none += ', so a tree that it shares with must give it'
            return self.near.root, f'{amount} asked; {none}'
        nearest = max(able, key=lambda one: _nearness(one, rc, amount))
        parts = [
            f'{amount} asked',
            _stock(nearest, rc),
            *_out_of_step(nearest, rc, amount),
        ]
        if nearest in self.near.sharing and nearest.gives(rc, amount):
            own = self.near.root.name
            parts.append(f'it would give that, and {own} itself nothing')
        return nearest, ', '.join(parts)

    def _trait(self, part: Requirement) -> Said:
        nearest = self._givers(part)[0]
        holders = [one for one in self.near.near if one.has_any(part.names)]
        if holders:
            nearest = max(holders, key=lambda one: self._given(one, part))
            some = ', '.join(sorted(nearest.traits & set(part.names)))
            return nearest, f'it has {some}, but {self._lacks(nearest, part)}'
        if part.kind is Kind.REQUIRED:
            one, nobody = 'does not have this trait', 'has this trait'
        else:
            one, nobody = 'has none of these traits', 'has any of these traits'
        return nearest, self._nobody(one, nobody)

    def _forbidden(self, part: Requirement) -> Standing:
        able = [*self._givers(part), *self.near.near]
        return next((o for o in able if o.has_any(part.names)), able[0])

    def _member(self, part: Requirement) -> Said:
        able = [*self._givers(part), *self.near.near]
        nearest = able[0]
        if part.kind is Kind.NOT_MEMBER_OF:
            nearest = next((o for o in able if o.is_in(part.names)), nearest)
        some = ', '.join(sorted(nearest.aggregates)) or 'no aggregate'
        return nearest, f'it is in {some}'

    def _lacks(self, one: Standing, part: Requirement) -> str:
        """Return why a provider with the trait is not one that counts."""
        asked = self.amounts.get(part.group, {})
        for rc, amount in asked.items():
            if rc in one.inventories and not one.gives(rc, amount):
                odd = _out_of_step(one, rc, amount)
                facts = ', '.join([_stock(one, rc), *odd])
                return f'{rc}: {amount} asked, {facts}'
        none = [rc for rc in asked if rc not in one.inventories]
        if none:
            return f'no {" and no ".join(none)}'
        return 'not all that is asked of it beside'

    def _nobody(self, one: str, nobody: str) -> str:
        """Return that nobody in reach has something.

        :param one: of a root without children
        :param nobody: of a whole tree
        """
        alone = len(self.near.tree) == 1
        name = self.near.root.name
        text = f'{name} {one}' if alone else f'nothing in its tree {nobody}'
        more = ', nor has what shares with it' if self.near.sharing else ''
        return text + more

    def _given(self, one: Standing, part: Requirement) -> int:
        """Return how many of the amounts of the group it could give."""
        asked = self.amounts.get(part.group, {})
        return sum(one.gives(rc, amount) for rc, amount in asked.items())

    def _givers(self, part: Requirement) -> list[Standing]:
        """Return who could give something of the group, or else the root."""
        able = [one for one in self.near.near if self._given(one, part)]
        return able or [self.near.root]


def _nearness(one: Standing, rc: str, amount: int) -> tuple[bool, bool, int]:
    in_step = not _out_of_step(one, rc, amount)
    return one.gives(rc, amount), in_step, one.free(rc)


def _stock(one: Standing, rc: str) -> str:
    """Return how much of a class is free, and how that comes about."""
    record = one.inventories[rc]
    return (
        f'{one.free(rc)} of {one.capacity(rc)} free (total {record.total}, '
        f'reserved {record.reserved}, used {one.used.get(rc, 0)}, ratio '
        f'{record.allocation_ratio})'
    )


def _out_of_step(one: Standing, rc: str, amount: int) -> list[str]:
    """Return what speaks against an amount, however much is free."""
    record = one.inventories[rc]
    found = []
    if amount < record.min_unit:
        found.append(f'at least {record.min_unit} at a time (min_unit)')
    if amount > record.max_unit:
        found.append(f'at most {record.max_unit} at a time (max_unit)')
    if amount % record.step_size:
        found.append(f'multiples of {record.step_size} only (step_size)')
    return found
