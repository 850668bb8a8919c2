# SPDX-License-Identifier: Apache-2.0
"""What placement must hold of a station's nodes once nobody interferes.

``faults`` lists what is not as wanted. What is certainly the agent's and is
not wanted must be gone, what is wanted must be there, and what stays because
it is allocated must be reserved; what may be another's is left out of account.
"""

import judge as judging
import world

from compute_agent.virt import driver as virt

# The root's traits that rules give.
RULED = {world.RULED, 'CUSTOM_GOLD'}


def faults(station) -> list[str]:
    """Return what is wrong with the station's nodes, in lines."""
    found = _claimed(station)
    for node in station.nodes:
        told = station.driver.told.get(node)
        if node not in station.driver.present:
            found += departed(station, node)
            continue
        if told is not None:
            account = _Node(station, node, told)
            found += account.faults()
            if not (account.held_up or station.judge.fails_by_rules(node)):
                found += _shared(station, node, told)
        given = station.judge.rules_told(node)
        if given is not None and node in station.authors.now:
            found += _Rules(station, node, given).faults()
    return found


def children(station, node) -> list[str]:
    """Return what the providers below a node lack, or have too much."""
    told = station.driver.told.get(node)
    if told is None or node not in station.driver.present:
        return []
    return _Node(station, node, told).children()


def tangled(station, node) -> bool:
    """Whether others' providers are in the node's tree, or may be."""
    return any(
        uuid != node and not station.authors.owns(station.name, uuid)
        for uuid in below(station.authors.now, node)
    )


def allocated(station, node) -> bool:
    """Whether somebody uses something of the node's tree."""
    now = station.authors.now
    return any(now[uuid].allocations for uuid in below(now, node))


def blocked_pool(station, told) -> bool:
    """Whether the driver takes the pool off, and somebody holds it there."""
    now = station.authors.now
    return (
        told.pool in {world.REMOVES, world.STOPS}
        and world.POOL in now
        and bool(
            len(below(now, world.POOL)) > 1 or now[world.POOL].allocations
        )
    )


def below(now, uuid) -> list[str]:
    """Return the uuids of a provider that is there and of all below it."""
    found = [uuid] if uuid in now else []
    for each in found:
        found += [u for u, held in now.items() if held.parent == each]
    return found


def _claimed(station) -> list[str]:
    """Look into the record: what another made is nobody else's.

    If another makes the pool again, and it has the generation and the contents
    that an agent saw last, that agent cannot know.
    """
    created = station.agent.state.records.created_for(station.nodes)
    return [
        f'{station.authors.now[uuid].name} counts as its own'
        for uuids in created.values()
        for uuid in uuids
        if uuid in station.authors.now
        and uuid != world.POOL
        and not station.authors.may_own(station.name, uuid)
    ]


def _was_made_again(station, held) -> bool:
    """Whether a provider was made again, and is as old as its last reading.

    Nobody who does not read all of it can tell it from the former one.
    """
    uuid = held.uuid
    seen = station.agent.state.snapshot.readings([uuid]).get(uuid)
    return (
        station.authors.was_deleted(uuid)
        and seen is not None
        and seen.provider.generation == held.generation
        and seen.provider.traits != held.traits
    )


def _shared(station, node, told):
    """Yield what a lone root lacks that a node's driver describes."""
    for uuid, place in world.lone_places(node, told).items():
        said = place.said['inventory']
        if said.form != 'update':
            continue
        held = station.authors.now.get(uuid)
        if held is None:
            yield f'{place.name} is missing'
            continue
        if _was_made_again(station, held):
            continue
        for kind in ('trait', 'aggregate'):
            for name in place.said[kind].asserted - held.names(kind):
                yield f'{place.name}: lacks {name}'
        for rc, (total, _) in said.names.items():
            one = held.inventories.get(rc)
            if one is None or (one.total, one.reserved) != (total, 0):
                yield f'{place.name}: {rc} is {one}'


def departed(station, node) -> list[str]:
    """Return a line if a node that is gone is still in placement."""
    now = station.authors.now
    if (
        station.driver.exists.get(node) is not virt.Existence.NO
        or node not in now
        or not station.authors.owns(station.name, node)
        or tangled(station, node)
        or allocated(station, node)
    ):
        return []
    return [f'{now[node].name} is gone and its provider is not']


def offered(station, node) -> list[str]:
    """Return a line for each class of a gone node's root that is on offer."""
    if not departed(station, node):
        return []
    return [
        f'{rc} of {node}'
        for rc, one in station.authors.now[node].inventories.items()
        if one.reserved < one.total
    ]


class _Rules:
    """The account of what the second driver of a node gives."""

    def __init__(self, station, node, given) -> None:
        self._station = station
        self._node = node
        self._given = given
        self._now = station.authors.now

    def faults(self):
        told = self._station.driver.told.get(self._node)
        if told is not None and _Node(self._station, self._node, told).held_up:
            return
        held = self._now[self._node].traits
        for name in self._given.traits - held:
            yield f'lacks {name} of a rule'
        key = self._node, 'trait', world.RULED
        ours = self._station.authors.owns(self._station.name, key)
        if ours and world.RULED in held - self._given.traits:
            yield f'still has {world.RULED}'
        if tangled(self._station, self._node) or allocated(
            self._station, self._node
        ):
            return
        for uuid, name in world.CARDS.items():
            for line in self._card(uuid):
                yield f'{name}: {line}'

    def _card(self, uuid):
        place, held = self._given.places.get(uuid), self._now.get(uuid)
        if place is None:
            if held and world.MARKER in held.traits and self._is_over(uuid):
                yield 'it is still there'
            return
        if held is None:
            yield 'it is missing'
            return
        if (held.name, held.parent) != (place.name, place.parent):
            yield f'it is {held.name} below {held.parent}'
        for name in place.said['trait'].asserted - held.traits:
            yield f'lacks {name}'
        totals = {rc: one.total for rc, one in held.inventories.items()}
        wanted = {
            rc: total
            for rc, (total, _) in place.said['inventory'].names.items()
        }
        if totals != wanted:
            yield f'has {totals}'

    def _is_over(self, uuid):
        owns = self._station.authors.owns(self._station.name, uuid)
        return owns and uuid not in self._given.stays


class _Node:
    """The account of one node that its driver described."""

    def __init__(self, station, node, told) -> None:
        self._station = station
        self._node = node
        self._told = told
        self._now = station.authors.now
        self._free = not (tangled(station, node) or allocated(station, node))

    def faults(self):
        if self.held_up:
            return []
        return [
            *self._shape(),
            *self._unmoved(),
            *self._contents(self._told.places),
            *self._offered(),
        ]

    def children(self):
        """Return what is wrong with what the providers below it have."""
        if self.held_up or not self._free or self._told.moves:
            return []
        return [*self._contents(self._told.places.keys() - {self._node})]

    def _contents(self, uuids):
        for uuid in sorted(uuids & self._now.keys()):
            place = self._told.places[uuid]
            for line in (
                *self._missing(uuid, place),
                *self._left(uuid, place),
                *self._inventory(uuid, place),
            ):
                yield f'{self._now[uuid].name}: {line}'

    def _offered(self):
        """What the driver took away and cannot go offers nothing."""
        if not self._told.shapes:
            return
        for slot in world.SLOTS:
            uuid = world.child(self._node, slot)
            held = self._now.get(uuid)
            if held and uuid not in self._told.places and self._owns(uuid):
                for rc, one in held.inventories.items():
                    if one.reserved != one.total:
                        yield f'{held.name} is not wanted and offers {rc}'

    @property
    def held_up(self):
        """Whether a class is to move to where another stays that is in use.

        It comes when that is gone; until then nothing of the node is done.
        """
        for rc, giver, taker in self._told.moving(lambda *_: True):
            wanted = self._told.places[taker].said['inventory'].names
            in_use = [
                {rc for _, rc in self._now[uuid].allocations}
                if uuid in self._now
                else set()
                for uuid in (giver, taker)
            ]
            if rc in in_use[0] and in_use[1] - set(wanted):
                return True
        return False

    def _owns(self, key):
        return self._station.authors.owns(self._station.name, key)

    def _shape(self):
        if not self._told.shapes or not self._free:
            return
        for uuid, place in self._told.places.items():
            held = self._now.get(uuid)
            if held is None:
                yield f'{place.name} is missing'
            elif (held.name, held.parent) != (place.name, place.parent):
                yield f'{place.name} is {held.name} below {held.parent}'
        for slot in world.SLOTS:
            uuid = world.child(self._node, slot)
            if uuid in self._now and uuid not in self._told.places:
                yield f'{self._now[uuid].name} is still there'
        for uuid in self._station.driver.unwanted:
            if uuid in below(self._now, self._node):
                yield f'{self._now[uuid].name} was adopted and is not wanted'

    def _unmoved(self):
        if tangled(self._station, self._node):
            return
        for rc, uuid, _ in self._told.moving(lambda *_: True):
            held = self._now.get(uuid)
            if held and rc in {rc for _, rc in held.allocations}:
                yield f'{held.name}: {rc} was to move with what is allocated'

    def _missing(self, uuid, place):
        held = self._now[uuid]
        for kind in ('trait', 'aggregate'):
            said = place.said[kind]
            wanted = said.asserted
            if kind == 'trait' and uuid == self._node:
                wanted |= world.OWN_TRAITS | self._station.judge.filed
            for name in wanted - held.names(kind) - {world.UNKNOWN_TRAIT}:
                yield f'lacks {name}'

    def _left(self, uuid, place):
        held = self._now[uuid]
        for kind in ('trait', 'aggregate'):
            said = place.said[kind]
            for name in held.names(kind) & said.taken:
                yield f'still has {name}'
            if not said.speaks:
                continue
            fine = world.OWN_TRAITS | self._station.judge.filed
            fine |= self._of_rules(uuid)
            for name in held.names(kind) - set(said.names) - fine:
                key = (uuid, kind, name)
                if self._owns(key) or self._must_go(uuid, kind, name, said):
                    yield f'still has {name}'

    def _of_rules(self, uuid):
        """Return the traits that the second driver may hold."""
        if self._station.ruled is None or uuid != world.N4:
            return set()
        given = self._station.judge.rules_told(uuid)
        return RULED if given is None else given.traits

    def _must_go(self, uuid, kind, name, said):
        """Whether a name must go though another put it there."""
        if kind == 'trait':
            if judging.is_protected(name):
                return False
            if self._station.judge.decides(name):
                return True
        trusted = uuid == self._node or self._owns(uuid)
        return said.form == 'update' and trusted

    def _inventory(self, uuid, place):
        said, held = place.said['inventory'], self._now[uuid].inventories
        if said.form != 'update':
            return
        used = {rc for _, rc in self._now[uuid].allocations}
        stuck = used - set(said.names)
        for rc in stuck:
            if held[rc].reserved != held[rc].total:
                yield f'{rc} is in use and not reserved'
        if stuck:
            return
        for rc in held.keys() - said.names.keys():
            yield f'still has {rc}'
        for rc, (total, ratio) in said.names.items():
            if rc not in held:
                yield f'lacks {rc}'
                continue
            one = held[rc]
            same_ratio = ratio in {None, one.allocation_ratio}
            if (one.total, one.reserved) != (total, 0) or not same_ratio:
                yield f'{rc} is {one}'
