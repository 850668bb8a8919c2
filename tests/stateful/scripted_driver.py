# SPDX-License-Identifier: Apache-2.0
"""The driver of the stateful test: it says what the machine wants of a node.

What it is to say is ``world.Wanted``; the judge asks it what it said.
"""

import copy

import world

from compute_agent import errors
from compute_agent.virt import driver as virt

# Of these it says first what the description goes by.
WITH_FACTS = {world.N2, world.N4}


class ScriptedDriver(virt.ComputeDriver):
    """Says what is wanted, and what it was asked since the cycle began.

    :ivar present: uuid → name of the nodes that it lists
    :ivar exists: what it answers of those that it does not list
    :ivar unwanted: uuids of what it removes wherever it sees it
    :ivar told: what it said of each node in this cycle; None where it raised
    """

    def __init__(self, agent: str) -> None:
        self.present = dict(world.NODES[agent])
        self.exists: dict[str, virt.Existence] = {}
        self.wanted: dict[str, world.Wanted] = {}
        self.unwanted: set[str] = set()
        self.told: dict[str, world.Wanted | None] = {}
        self._authority = world.AUTHORITY[agent]
        self._uuids = {name: uuid for uuid, name in world.NODES[agent].items()}

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

    def facts(self, nodename):
        node = self._uuids[nodename]
        wanted = self.wanted[node]
        if node not in WITH_FACTS or wanted.moves or not wanted.shapes:
            return None
        self.told[node] = wanted.effective(node)
        return copy.deepcopy((wanted, self.unwanted))

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        node, wanted = self._about(nodename)
        if wanted.behaviour in {'inventory', 'resources'}:
            # It finds out late that it lacks the method for this node.
            provider_tree.add_traits(node, world.DISCARDED)
            raise NotImplementedError
        if wanted.behaviour == 'raises':
            self.told[node] = None
            raise RuntimeError('the hypervisor does not answer')
        moves = wanted.moving(
            lambda uuid, rc: (
                provider_tree.exists(uuid)
                and rc in provider_tree.data(uuid).inventory
            )
        )
        if moves and allocations is None:
            raise errors.ReshapeNeeded
        for uuid in filter(provider_tree.exists, self.unwanted):
            provider_tree.remove(uuid)
        _shape(provider_tree, node, wanted)
        for uuid, place in wanted.places.items():
            _fill(provider_tree, uuid, place)
        for move in moves:
            _move(allocations, *move)
        if wanted.behaviour == 'half':
            self.told[node] = None
            raise errors.DriverError('the hypervisor went away')
        _share_all(provider_tree, node, wanted)

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
    for slot in world.SLOTS:
        uuid = world.child(node, slot)
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
    _name(tree, 'traits', uuid, place.said['trait'])
    _name(tree, 'aggregates', uuid, place.said['aggregate'])
    inventory = place.said['inventory']
    if inventory.form in {'update', 'declare'}:
        set_it = getattr(tree, f'{inventory.form}_inventory')
        set_it(uuid, _records(inventory))
    elif inventory.form == 'keep':
        tree.keep_inventory(uuid)


def _name(tree, kind, uuid, said):
    if said.form == 'update':
        getattr(tree, f'update_{kind}')(uuid, list(said.names))
    elif said.form == 'keep':
        getattr(tree, f'keep_{kind}')(uuid)
    elif said.form == 'once':
        lacking = [n for n in said.names if not tree.has_traits(uuid, [n])]
        tree.add_traits(uuid, *lacking)
    elif said.form != 'silent':
        getattr(tree, f'{said.form}_{kind}')(uuid, *said.names)


def _move(allocations, rc, giver, taker):
    for one in allocations.values():
        resources = one['allocations'].get(giver, {}).get('resources', {})
        if rc in resources:
            taken = one['allocations'].setdefault(taker, {'resources': {}})
            some = taken['resources']
            some[rc] = some.get(rc, 0) + resources.pop(rc)


def _share_all(tree, node, wanted):
    if wanted.pool == world.REMOVES and tree.exists(world.POOL):
        tree.remove(world.POOL)
    for uuid, place in world.lone_places(node, wanted).items():
        if place.said['inventory'].form == 'update' and not tree.exists(uuid):
            tree.new_root(place.name, uuid)
        if tree.exists(uuid):
            _fill(tree, uuid, place)


def _records(said):
    return {
        rc: {'total': total}
        if ratio is None
        else {'total': total, 'allocation_ratio': ratio}
        for rc, (total, ratio) in said.names.items()
    }
