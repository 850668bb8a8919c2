# SPDX-License-Identifier: Apache-2.0
"""The world of the stateful test: nodes, their providers, who wants what.

Five nodes of three agents with the same slots for children, a provider that one
node shares through an aggregate, a pool that any of them may describe, and few
names, so that they meet often.
``Wanted`` is what a driver would describe of a node; the machine changes it,
``scripted_driver.py`` says it.
"""

import dataclasses
from collections.abc import Callable, Mapping

from compute_agent.tree import provider_tree

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER_AGGREGATE = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
SHARED = '55555555-5555-4555-8555-555555555555'
# Nodes of all agents may describe this one, under the same uuid.
POOL = '66666666-6666-4666-8666-000000000000'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'
OWN_TRAITS = frozenset({'COMPUTE_NODE', 'OWNER_NOVA'})
UNKNOWN_TRAIT = 'HW_CPU_X86_NOT_YET_THERE'
TRAITS = (
    'HW_CPU_X86_AVX',
    'HW_CPU_X86_AVX2',
    'CUSTOM_GOLD',
    'CUSTOM_RED',
    UNKNOWN_TRAIT,
)
OTHERS_TRAITS = (
    *TRAITS[:4],
    'CUSTOM_OPERATOR',
    'COMPUTE_STATUS_DISABLED',
    'OWNER_CYBORG',
    'OWNER_NOVA',
)
# Said by a driver that then says it cannot describe a tree.
DISCARDED = 'CUSTOM_DISCARDED'
# Given to every node of an agent by its operator's file, or by none.
FILE_TRAITS = ('CUSTOM_FILE_ONE', 'CUSTOM_FILE_TWO')
FILE = """
meta: {{schema_version: '1.0'}}
providers:
- identification: {{uuid: $COMPUTE_NODE}}
  traits: {{additional: [{}]}}
"""
CLASSES = ('VCPU', 'MEMORY_MB', 'CUSTOM_LICENCE')
OTHERS_CLASSES = (*CLASSES, 'CUSTOM_OPERATORS')
AGGREGATES = (AGGREGATE, OTHER_AGGREGATE)
DECLARE = 'declare'
KINDS = ('trait', 'inventory', 'aggregate')
# What a driver may say of the pool beside its size: that it is to go, or that
# it has nothing of this node any more.
REMOVES, STOPS = 'removes', 'stops'
POOL_SIZES = (100, 120)
POOL_TRAITS = ('CUSTOM_GOLD', 'CUSTOM_RED')
# A resource class, the provider that had it, the one that gets it.
Move = tuple[str, str, str]
NODES = {
    'one': {
        '11111111-1111-4111-8111-000000000000': 'n1',
        '22222222-2222-4222-8222-000000000000': 'n2',
        '33333333-3333-4333-8333-000000000000': 'n3',
    },
    'two': {'44444444-4444-4444-8444-000000000000': 'n4'},
    'three': {'77777777-7777-4777-8777-000000000000': 'n5'},
}
ALL_NODES = {u: name for nodes in NODES.values() for u, name in nodes.items()}
N1, N2, N3 = NODES['one']
(N4,) = NODES['two']
AUTHORITY = {'one': (), 'two': ('HW_CPU_*',), 'three': ()}
AGENTS = tuple(NODES)
OLDEST_FORM = {'VCPU': (4, None), 'MEMORY_MB': (1024, None)}
# Below each node: two children that may swap names, one that moves between.
SLOTS = ('a', 'b', 'deep')


def child(node: str, slot: str) -> str:
    """Return the uuid of a child of this node."""
    return f'{node[:-1]}{SLOTS.index(slot) + 1}'


# The second driver of n4 has rules. They give the root traits, one of which
# the first driver may give too, and a child for each card of a vendor.
RULES = ('ruled', 'gold', 'cards')
GOLD_BY_RULE = 'CUSTOM_GOLD'
RULED = 'CUSTOM_RULED'
MARKER = 'CUSTOM_RULE_CARDS'
VENDOR = '8086'
CARDS = {
    provider_tree.derived_uuid(N4, name): name
    for name in ('n4_card_x', 'n4_card_y')
}


def home(uuid: str) -> str:
    """Return the node that a uuid belongs to by its making."""
    return N4 if uuid in CARDS else f'{uuid[:-1]}0'


@dataclasses.dataclass(slots=True)
class Said:
    """What is said of one kind of names: a form, and the names.

    :ivar form: declare or update (all names); add, remove, or once (add those
        that are not there): these names; keep (unknown this time) or silent
    :ivar names: of an inventory, the class → total and ratio or None
    """

    form: str = 'silent'
    names: dict[str, tuple[int, float | None]] = dataclasses.field(
        default_factory=dict
    )

    @property
    def speaks(self) -> bool:
        """Whether all names are given."""
        return self.form in {'declare', 'update'}

    @property
    def asserted(self) -> set[str]:
        """The names that are to be there."""
        some = self.speaks or self.form in {'add', 'once'}
        return set(self.names) if some else set()

    @property
    def taken(self) -> set[str]:
        """The names that are to go, whoever put them there."""
        return set(self.names) if self.form == 'remove' else set()


@dataclasses.dataclass(slots=True)
class Place:
    """A provider as a driver wants it."""

    name: str
    parent: str | None = None
    said: dict[str, Said] = dataclasses.field(
        default_factory=lambda: {kind: Said() for kind in KINDS}
    )

    def gives(self, rc: str) -> bool:
        """Whether a class is said to be here."""
        said = self.said['inventory']
        return said.speaks and rc in said.names

    def lacks(self, rc: str) -> bool:
        """Whether a class is not to be here."""
        said = self.said['inventory']
        return said.form == 'update' and rc not in said.names


@dataclasses.dataclass(slots=True)
class Wanted:
    """What the driver would say of one node.

    :ivar behaviour: tree, or raises, half (raises amid the edits), inventory
        or resources (the fall-backs of a driver that edits no tree)
    :ivar places: by uuid, parents first, the node's own provider first
    :ivar shares: whether it describes the shared provider too
    :ivar pool: the size of the pool that several agents describe; ``REMOVES``,
        ``STOPS``, or None where it says nothing of it
    :ivar pool_traits: what it gives the pool beside the trait that it shares
    :ivar moves: class → the provider that had it, the one that gets it with
        all that is allocated of it
    """

    behaviour: str
    places: dict[str, Place]
    shares: bool = False
    pool: int | str | None = None
    pool_traits: frozenset[str] = frozenset()
    moves: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)

    @property
    def shapes(self) -> bool:
        """Whether it says which children there are."""
        return self.behaviour in {'tree', 'half'}

    def effective(self, node: str) -> 'Wanted':
        """Return what the agent hears: less of a driver without trees."""
        if self.shapes:
            return self
        said = {kind: Said() for kind in KINDS}
        spoken = self.places[node].said
        if self.behaviour == 'inventory':
            said['trait'] = Said('declare', spoken['trait'].names)
            said['inventory'] = Said('update', spoken['inventory'].names)
        else:
            said['inventory'] = Said('update', OLDEST_FORM)
        place = Place(self.places[node].name, None, said)
        return Wanted(self.behaviour, {node: place})

    def moving(self, had: Callable[[str, str], bool]) -> list[Move]:
        """Return what is still where it was.

        :param had: whether a provider has a class
        """
        return [
            (rc, giver, taker)
            for rc, (giver, taker) in self.moves.items()
            if {giver, taker} <= self.places.keys()
            and self.places[giver].lacks(rc)
            and self.places[taker].gives(rc)
            and had(giver, rc)
        ]

    def sort(self) -> None:
        """Put parents first; drop what is left without one."""
        ordered: dict[str, Place] = {}
        for _ in range(len(SLOTS) + 1):
            for uuid, place in self.places.items():
                if place.parent is None or place.parent in ordered:
                    ordered.setdefault(uuid, place)
        self.places = ordered


@dataclasses.dataclass(slots=True)
class Ruled:
    """The rules and facts of the second driver of n4.

    :ivar behaviour: tree, raises, or half (raises after the edits)
    :ivar on: the rules that are in force
    :ivar gold: a fact; None while it is unknown
    :ivar cards: the vendor of each card, None for unknown; or None while the
        cards cannot be listed
    """

    behaviour: str = 'tree'
    on: frozenset[str] = frozenset(RULES)
    gold: bool | None = False
    cards: Mapping[str, str | None] | None = dataclasses.field(
        default_factory=lambda: {'x': VENDOR}
    )


@dataclasses.dataclass(slots=True)
class Given:
    """What rules give.

    :ivar traits: of the root
    :ivar places: the children that rules surely give, by uuid
    :ivar stays: the children that stay as they are
    """

    traits: set[str] = dataclasses.field(default_factory=set)
    places: dict[str, Place] = dataclasses.field(default_factory=dict)
    stays: set[str] = dataclasses.field(default_factory=set)


LONE_ROOTS = {SHARED: 'shared', POOL: 'pool'}
_NOTHING = {kind: Said('declare') for kind in KINDS}


def lone_places(node: str, wanted: Wanted) -> dict[str, Place]:
    """Return what a node's driver says of the providers outside its tree."""
    found = {}
    if not wanted.shapes:
        return found
    if wanted.shares:
        found[SHARED] = _sharing('shared', 100, {SHARES}, AGGREGATE)
    elif node == N4:
        red = {**_NOTHING, 'trait': Said('declare', listed({'CUSTOM_RED'}))}
        red |= {'inventory': Said(), 'aggregate': Said()}
        found[SHARED] = Place('shared', said=red)
    if isinstance(wanted.pool, int):
        traits = {SHARES, *wanted.pool_traits}
        place = _sharing('pool', wanted.pool, traits, OTHER_AGGREGATE)
        if node == N2:
            place.said['trait'].form = place.said['aggregate'].form = 'update'
        found[POOL] = place
    elif wanted.pool is not None:
        found[POOL] = Place('pool', said=dict(_NOTHING))
    return found


def _sharing(name: str, size: int, traits: object, aggregate: str) -> Place:
    return Place(
        name,
        said={
            'trait': Said('declare', listed(traits)),
            'inventory': Said('update', {'DISK_GB': (size, None)}),
            'aggregate': Said('declare', listed({aggregate})),
        },
    )


def first(node: str) -> Wanted:
    """Return what a node's driver says at first: a tree of depth three."""
    name = ALL_NODES[node]
    root = Place(name)
    root.said['trait'] = Said('declare', listed({'HW_CPU_X86_AVX'}))
    root.said['inventory'] = Said('update', {'VCPU': (8, None)})
    root.said['aggregate'] = Said('declare', listed({AGGREGATE}))
    places = {node: root}
    above = node
    for slot in ('a', 'deep') if node in {N1, N4} else ('a',):
        place = places[child(node, slot)] = Place(f'{name}-{slot}', above)
        place.said['trait'] = Said('declare', listed({'CUSTOM_GOLD'}))
        place.said['inventory'] = Said('update', {'MEMORY_MB': (16, None)})
        above = child(node, slot)
    if node == N2:
        root.said['trait'].form = root.said['aggregate'].form = 'update'
    if node == N3:
        root.said['aggregate'].form = 'silent'
    return Wanted('tree', places, shares=node == N1)


def listed(names: object) -> dict[str, tuple[int, float | None]]:
    """Return names that have no amounts, as ``Said`` keeps them."""
    return dict.fromkeys(sorted(names), (0, None))  # type: ignore[call-overload]
