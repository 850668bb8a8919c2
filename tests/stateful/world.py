# SPDX-License-Identifier: Apache-2.0
"""The world of the stateful test: nodes, their providers, who wants what.

Four nodes of two agents with the same slots for children, a provider that one
node shares through an aggregate, and few names, so that they meet often.
``Wanted`` is what a driver would describe of a node; the machine changes it,
``ScriptedDriver`` says it.
"""

import dataclasses

from compute_agent import errors
from compute_agent.virt import driver as virt

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER_AGGREGATE = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
SHARED = '55555555-5555-4555-8555-555555555555'
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
KINDS = ('trait', 'inventory', 'aggregate')
NODES = {
    'one': {
        '11111111-1111-4111-8111-000000000000': 'n1',
        '22222222-2222-4222-8222-000000000000': 'n2',
        '33333333-3333-4333-8333-000000000000': 'n3',
    },
    'two': {'44444444-4444-4444-8444-000000000000': 'n4'},
}
ALL_NODES = {u: name for nodes in NODES.values() for u, name in nodes.items()}
N1, N2, N3 = NODES['one']
(N4,) = NODES['two']
AUTHORITY = {'one': (), 'two': ('HW_CPU_*',)}
AGENTS = tuple(NODES)
OLDEST_FORM = {'VCPU': (4, None), 'MEMORY_MB': (1024, None)}
# Below each node: two children that may swap names, one that moves between.
SLOTS = ('a', 'b', 'deep')


def child(node: str, slot: str) -> str:
    """Return the uuid of a child of this node."""
    return f'{node[:-1]}{SLOTS.index(slot) + 1}'


def home(uuid: str) -> str:
    """Return the node that a uuid belongs to by its making."""
    return f'{uuid[:-1]}0'


@dataclasses.dataclass(slots=True)
class Said:
    """What is said of one kind of names: a form, and the names.

    :ivar form: add, update, keep (unknown this time) or silent
    :ivar names: of an inventory, the class → total and ratio or None
    """

    form: str = 'silent'
    names: dict[str, tuple[int, float | None]] = dataclasses.field(
        default_factory=dict
    )

    @property
    def speaks(self) -> bool:
        """Whether names are given."""
        return self.form in {'add', 'update'}


@dataclasses.dataclass(slots=True)
class Place:
    """A provider as a driver wants it."""

    name: str
    parent: str | None = None
    said: dict[str, Said] = dataclasses.field(
        default_factory=lambda: {kind: Said() for kind in KINDS}
    )


@dataclasses.dataclass(slots=True)
class Wanted:
    """What the driver would say of one node.

    :ivar behaviour: tree, or raises, half (raises amid the edits), inventory
        or resources (the fall-backs of a driver that edits no tree)
    :ivar places: by uuid, parents first, the node's own provider first
    :ivar shares: whether it describes the shared provider too
    """

    behaviour: str
    places: dict[str, Place]
    shares: bool = False

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
            said['trait'] = Said('add', spoken['trait'].names)
            said['inventory'] = Said('update', spoken['inventory'].names)
        else:
            said['inventory'] = Said('update', OLDEST_FORM)
        place = Place(self.places[node].name, None, said)
        return Wanted(self.behaviour, {node: place})

    def sort(self) -> None:
        """Put parents first; drop what is left without one."""
        ordered: dict[str, Place] = {}
        for _ in range(len(SLOTS) + 1):
            for uuid, place in self.places.items():
                if place.parent is None or place.parent in ordered:
                    ordered.setdefault(uuid, place)
        self.places = ordered


SHARED_PLACE = Place(
    'shared',
    said={
        'trait': Said('add', {SHARES: (0, None)}),
        'inventory': Said('update', {'DISK_GB': (100, None)}),
        'aggregate': Said('add', {AGGREGATE: (0, None)}),
    },
)


def first(node: str) -> Wanted:
    """Return what a node's driver says at first: a tree of depth three."""
    name = ALL_NODES[node]
    root = Place(name)
    root.said['trait'] = Said('add', listed({'HW_CPU_X86_AVX'}))
    root.said['inventory'] = Said('update', {'VCPU': (8, None)})
    root.said['aggregate'] = Said('add', listed({AGGREGATE}))
    places = {node: root}
    above = node
    for slot in ('a', 'deep') if node in {N1, N4} else ('a',):
        place = places[child(node, slot)] = Place(f'{name}-{slot}', above)
        place.said['trait'] = Said('add', listed({'CUSTOM_GOLD'}))
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


class ScriptedDriver(virt.ComputeDriver):
    """Says what is wanted, and what it was asked since the cycle began.

    :ivar present: uuid → name of the nodes that it lists
    :ivar exists: what it answers of those that it does not list
    :ivar told: what it said of each node in this cycle; None where it raised
    """

    def __init__(self, agent: str) -> None:
        self.present = dict(NODES[agent])
        self.exists: dict[str, virt.Existence] = {}
        self.wanted: dict[str, Wanted] = {}
        self.told: dict[str, Wanted | None] = {}
        self._authority = AUTHORITY[agent]
        self._uuids = {name: uuid for uuid, name in NODES[agent].items()}

    @classmethod
    def from_conf(cls, conf):
        raise errors.ConfigError('a test makes this driver itself')

    @property
    def authority(self):
        return self._authority

    def get_available_nodes(self):
        return list(self.present.values())

    def get_nodenames_by_uuid(self):
        return self.present

    def node_exists(self, nodename):
        if nodename in self.present.values():
            return virt.Existence.YES
        uuid = self._uuids[nodename]
        return self.exists.get(uuid, virt.Existence.UNKNOWN)

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        node, wanted = self._about(nodename)
        if wanted.behaviour in {'inventory', 'resources'}:
            raise NotImplementedError
        if wanted.behaviour == 'raises':
            self.told[node] = None
            raise RuntimeError('the hypervisor does not answer')
        _shape(provider_tree, node, wanted)
        for uuid, place in wanted.places.items():
            _fill(provider_tree, uuid, place)
        if wanted.behaviour == 'half':
            self.told[node] = None
            raise errors.DriverError('the hypervisor went away')
        if wanted.shares:
            _share(provider_tree)
        elif node == N4 and provider_tree.exists(SHARED):
            provider_tree.add_traits(SHARED, 'CUSTOM_RED')

    def get_inventory(self, nodename):
        node, wanted = self._about(nodename)
        if wanted.behaviour == 'resources':
            raise NotImplementedError
        return _records(wanted.places[node].said['inventory'])

    def get_traits(self, nodename):
        node, wanted = self._about(nodename)
        if wanted.behaviour == 'resources':
            raise NotImplementedError
        return sorted(wanted.places[node].said['trait'].names)

    def get_available_resource(self, nodename):
        self._about(nodename)
        return {'vcpus': 4, 'memory_mb': 1024}

    def _about(self, nodename):
        node = self._uuids[nodename]
        self.told[node] = self.wanted[node].effective(node)
        return node, self.wanted[node]


def _shape(tree, node, wanted):
    """Edit the tree until it has the children wanted, and no other of ours."""
    for slot in SLOTS:
        uuid = child(node, slot)
        if tree.exists(uuid):
            data, place = tree.data(uuid), wanted.places.get(uuid)
            if place is None or (place.name, place.parent) != (
                data.name,
                data.parent_uuid,
            ):
                tree.remove(uuid)
    for uuid, place in wanted.places.items():
        if uuid != node and not tree.exists(uuid):
            tree.new_child(place.name, place.parent, uuid)


def _fill(tree, uuid, place):
    traits, aggregates = place.said['trait'], place.said['aggregate']
    if traits.form == 'add':
        tree.add_traits(uuid, *traits.names)
    elif traits.form == 'update':
        tree.update_traits(uuid, list(traits.names))
    elif traits.form == 'keep':
        tree.keep_traits(uuid)
    if aggregates.form == 'add':
        tree.add_aggregates(uuid, *aggregates.names)
    elif aggregates.form == 'update':
        tree.update_aggregates(uuid, list(aggregates.names))
    elif aggregates.form == 'keep':
        tree.keep_aggregates(uuid)
    inventory = place.said['inventory']
    if inventory.form == 'update':
        tree.update_inventory(uuid, _records(inventory))
    elif inventory.form == 'keep':
        tree.keep_inventory(uuid)


def _share(tree):
    if not tree.exists(SHARED):
        tree.new_root('shared', SHARED)
    tree.update_inventory(SHARED, {'DISK_GB': {'total': 100}})
    tree.add_traits(SHARED, SHARES)
    tree.add_aggregates(SHARED, AGGREGATE)


def _records(said):
    return {
        rc: {'total': total}
        if ratio is None
        else {'total': total, 'allocation_ratio': ratio}
        for rc, (total, ratio) in said.names.items()
    }
