# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about cycles, repetition and other writers."""

import itertools

from bad import breaks
from rack import NETWORK, Rack
from variants import Plant

from compute_agent import errors
from compute_agent.testing.contract import making, trial
from compute_agent.testing.contract.rules import other_writers, syncing
from compute_agent.testing.values import differences, seam
from compute_agent.tree.assertion import Kind

# --- the checks as they are ---------------------------------------------------

MAKE = making.make
RESTART = trial.Trial.restart
CHECK_STAYS = other_writers._check_stays
STRIP = syncing._strip


# --- making -------------------------------------------------------------------


def make_and_forget(of):
    """Make a driver and forget what it asked meanwhile."""
    made = MAKE(of.named, of.world, of.folder)
    of.watch.clear()
    return made


@breaks(
    'CA001',
    call='from_conf(conf): it called network.nodes()',
    fix='ask remote sources in get_available_nodes',
    weak=(
        'forgets what was asked while the driver was made',
        Plant(trial.Trial.make_driver, make_and_forget),
    ),
)
class AsksWhenMade(Rack):
    def __init__(self):
        super().__init__()
        self.get_available_nodes()


# --- cycles -------------------------------------------------------------------


@breaks(
    'CA003',
    call="update_provider_tree(…, 'rack-1')",
    fix='so that placement takes every name and amount',
    weak=(
        'looks for errors of the cycle, not of its nodes',
        Plant(trial.Cycle.trouble, lambda cycle: cycle.error),
    ),
)
class RefusesARack(Rack):
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        if nodename == 'rack-1':
            raise errors.DriverError('rack-1 is of another kind')
        super().update_provider_tree(provider_tree, nodename, allocations)


@breaks(
    'CA003',
    call='update_provider_tree: no node has a name',
    fix='describe the nodes of the world',
    weak=(
        'takes nothing for a description',
        Plant(syncing._check_asserted, lambda _: None),
    ),
)
class DescribesNothing(Rack):
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        """Do nothing."""


def cycle_that_may_write(of, *_, **__):
    """Run a cycle, and do not look at what it wrote."""
    return of.cycle()


@breaks(
    'CA004',
    call='update_provider_tree in the second cycle: it wrote PUT ',
    fix='describe an unchanged node by the same calls',
    weak=(
        'does not look at the writes of the second cycle',
        Plant(trial.Trial.quiet_cycle, cycle_that_may_write),
    ),
)
class Flaps(Rack):
    def label(self, tree, node, traits):
        odd = not tree.has_traits(node, ['CUSTOM_ODD'])
        tree.declare_traits(node, *traits, *['CUSTOM_ODD'] * odd)


def same_driver(of):
    """Keep the driver that there is."""
    if of._recorder is None:
        RESTART(of)


@breaks(
    'CA005',
    call='update_provider_tree in the first cycle after a restart',
    fix='describe a node from its source only',
    weak=(
        'keeps the driver at a restart',
        Plant(trial.Trial.restart, same_driver),
    ),
)
class CountsItsStarts(Rack):
    starts = itertools.count()

    def __init__(self):
        super().__init__()
        self.start = next(self.starts)

    def label(self, tree, node, traits):
        tree.declare_traits(node, *traits, f'CUSTOM_START_{self.start}')


def aggregates_stay(of, done, uuid, kind, name):
    """Check the aggregates of another writer only."""
    if kind is Kind.AGGREGATE:
        CHECK_STAYS(of, done, uuid, kind, name)


@breaks(
    'CA006',
    call='update_traits of provider rack-0: the trait CUSTOM_OF_ANOTHER_WRIT',
    fix='call declare_traits',
    weak=(
        'looks at aggregates only',
        Plant(other_writers._check_stays, aggregates_stay),
    ),
)
class GivesCompleteLists(Rack):
    def label(self, tree, node, traits):
        tree.update_traits(node, traits)


@breaks(
    'CA007',
    call='update_provider_tree in a cycle beside another writer',
    fix='edit and remove only providers that the driver creates',
    weak=(
        'has no other writer create a provider',
        Plant(other_writers._plant_providers, lambda *_: {}),
    ),
)
class DescribesEveryChild(Rack):
    def describe(self, tree, node, entries, allocations):
        super().describe(tree, node, entries, allocations)
        for uuid in tree.get_provider_uuids(node)[1:]:
            tree.declare_inventory(uuid, {'VGPU': {'total': 4}})


@breaks(
    'CA007',
    call="remove('child of another writer below rack-0') in a cycle",
    fix='remove only providers that the driver creates',
    weak=(
        'looks only at what placement holds',
        Plant(other_writers._check_removals, lambda *_: None),
    ),
)
class RemovesWhatItDoesNotKnow(Rack):
    def describe(self, tree, node, entries, allocations):
        cards = [self.card_name(node, e.get('card')) for e in entries]
        for uuid in tree.get_provider_uuids(node)[:0:-1]:
            if tree.data(uuid).name not in cards:
                tree.remove(uuid)
        super().describe(tree, node, entries, allocations)


def strip_inventory(of, said, _):
    """Remove what the driver asserted, but no trait."""
    STRIP(
        of, said, frozenset().union(*(a.names for a in said.asserted.values()))
    )


@breaks(
    'CA008',
    call='update_provider_tree after another writer removed names: ',
    fix='assert every name in every cycle',
    weak=(
        'removes no trait',
        Plant(syncing._strip, strip_inventory),
    ),
)
class AddsTraitsOnce(Rack):
    done = ()

    def label(self, tree, node, traits):
        if node not in self.done:
            tree.add_traits(node, *traits)
            self.done = (*self.done, node)


@breaks(
    'CA008',
    call='update_provider_tree after another writer deleted children: ',
    fix='create a child that the tree lacks',
    weak=(
        'deletes no child',
        Plant(syncing._delete_children, lambda *_: None),
    ),
)
class MakesItsCardsOnce(Rack):
    made = ()

    def add_card(self, tree, node, entry):
        name = self.card_name(node, entry['card'])
        if name not in self.made or tree.exists(name):
            super().add_card(tree, node, entry)
            self.made = (*self.made, name)


@breaks(
    'CA008',
    call='update_provider_tree after another writer removed names: ',
    fix='assert every name in every cycle',
    weak=(
        'takes any new note for an explanation',
        Plant(syncing._names, lambda *_: True),
    ),
)
class NotesSomethingElse(AddsTraitsOnce):
    def label(self, tree, node, traits):
        super().label(tree, node, traits)
        if not tree.has_traits(node, traits):
            tree.note('the racks are well')


# --- repetition ---------------------------------------------------------------


@breaks(
    'CA016',
    call='update_provider_tree of a driver whose source gives mappings',
    fix='sort what comes from a set or a mapping',
    weak=(
        'gives every mapping in the same order',
        Plant(seam.reordered, lambda answer: answer),
    ),
)
class FollowsTheOrder(Rack):
    def label(self, tree, node, traits):
        slots = [e for e in self.ask(NETWORK.read, node) if 'class' in e]
        first = next(iter(min(slots, key=lambda one: one['class'])))
        tree.declare_traits(node, *traits, f'CUSTOM_{first.upper()}')


@breaks(
    'CA016',
    call='update_provider_tree of a driver whose source gives lists',
    fix='tell the entries of a list by what they are called',
    weak=(
        'gives every list in the same order',
        Plant(seam.permuted, lambda answer: answer),
    ),
)
class CountsItsEntries(Rack):
    """Calls a trait by its place in the list."""

    def label(self, tree, node, traits):
        places = [f'CUSTOM_{n}_{one}' for n, one in enumerate(traits)]
        super().label(tree, node, [*traits, *places])


@breaks(
    'CA017',
    call='update_provider_tree after World.change',
    fix='read the source in each cycle',
    weak=(
        'takes any contents for other ones',
        Plant(differences.between_contents, lambda *_: 'everything'),
    ),
)
class ReadsOnce(Rack):
    def __init__(self):
        super().__init__()
        self._read = {}

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        if nodename not in self._read:
            self._read[nodename] = self.ask(NETWORK.read, nodename)
        entries = self._read[nodename]
        self.describe(provider_tree, nodename, entries, allocations)
