# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about changes of the world.

Each leaves something of the old world behind, and reports that it is done.
"""

import dataclasses
import functools

import rack
from bad import breaks
from rack import NETWORK, Rack
from variants import Plant

from compute_agent.testing.contract.rules import after_changes
from compute_agent.testing.values import alterations, differences

LEFT_OVER = differences.left_over
ANOTHER = alterations._another
FIX = 'describe everything from the reading of this cycle'


def losing(key):
    """Return a world whose change takes an entry out of each rack."""
    change = functools.partial(NETWORK.take_out, key)
    return dataclasses.replace(rack.world(), change=change)


def nothing_missing(fresh, now):
    """Look only for providers that are missing."""
    return LEFT_OVER(fresh, {n: r for n, r in now.items() if n in fresh})


class LeavesCards(Rack):
    """Creates the cards that it finds, and never removes one."""

    def remove_cards(self, tree, node, entries):
        """Forget to remove."""


@breaks(
    'CA037',
    call='update_provider_tree after World.change',
    fix=FIX,
    weak=(
        'looks for no provider that is still there',
        Plant(differences.left_over, nothing_missing),
    ),
    world=functools.partial(losing, 'card'),
)
class LeavesVanishedCards(LeavesCards):
    """Its report says done."""


@breaks(
    'CA037',
    call='update_provider_tree after World.change',
    fix=FIX,
    weak=(
        'compares no names',
        Plant(
            differences.left_over,
            lambda fresh, now: LEFT_OVER(
                {n: {'parent': r.get('parent')} for n, r in fresh.items()},
                {n: {'parent': r.get('parent')} for n, r in now.items()},
            ),
        ),
    ),
    world=functools.partial(losing, 'trait'),
)
class KeepsAfterItDeclares(Rack):
    """Calls keep_* to be careful, so that no trait ever goes."""

    def label(self, tree, node, traits):
        super().label(tree, node, traits)
        tree.keep_traits(node)


@breaks(
    'CA037',
    call='update_provider_tree after World.change while the agent was stopped',
    fix=FIX,
    weak=(
        'never changes the world while the agent is stopped',
        Plant(after_changes._compare_stopped, lambda *_: None),
    ),
    world=functools.partial(losing, 'card'),
)
class RemembersItsCards(Rack):
    """Removes the cards that it remembers, and it forgets at a restart."""

    def __init__(self):
        super().__init__()
        self._cards = {}

    def remove_cards(self, tree, node, entries):
        here = {self.card_name(node, one['card']) for one in entries}
        for name in self._cards.get(node, here) - here:
            tree.remove(name)
        self._cards[node] = here


@breaks(
    'CA038',
    call="update_provider_tree after network.read('rack-0'): "
    "entries[3].trait became 'CUSTOM_COOLED_BY_AIS', in a cycle that trusts "
    'the facts',
    fix=FIX,
    weak=(
        'never trusts the facts',
        Plant(after_changes._has_facts, lambda _: False),
    ),
)
class HasFactsOfItsSlots(Rack):
    """Its facts have what World.change alters, and leave out the traits."""

    def facts(self, nodename):
        entries = self.ask(NETWORK.read, nodename)
        return [one.get('total') for one in entries]


@breaks(
    'CA038',
    call="update_provider_tree after network.read('rack-0'): "
    "entries[3].trait became 'CUSTOM_COOLED_BY_AIS': "
    'CUSTOM_COOLED_BY_AIR of provider rack-0 is still there',
    fix=FIX,
    weak=(
        'changes numbers only',
        Plant(
            alterations._another,
            lambda value: None if isinstance(value, str) else ANOTHER(value),
        ),
    ),
)
class ReadsItsTraitsOnce(Rack):
    """Takes the traits of a rack for fixed."""

    def __init__(self):
        super().__init__()
        self._traits = {}

    def label(self, tree, node, traits):
        first = self._traits.setdefault((node, len(traits)), traits)
        super().label(tree, node, first)


@breaks(
    'CA038',
    call="update_provider_tree after network.read('rack-0'): "
    'entries[4] is gone, and the counts of it are',
    fix=FIX,
    weak=(
        'makes no list shorter',
        Plant(alterations._shorter, lambda _: iter(())),
    ),
)
class TakesAShorterListForAPart(Rack):
    """Remembers the longest list of traits."""

    def __init__(self):
        super().__init__()
        self._longest = {}

    def label(self, tree, node, traits):
        longest = self._longest.get(node, [])
        if len(traits) >= len(longest):
            longest = self._longest[node] = traits
        super().label(tree, node, longest)
