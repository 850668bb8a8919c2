# SPDX-License-Identifier: Apache-2.0
"""Everybody else who writes to placement: operators, nova, other services.

They use the API like anybody; what placement refuses them is no matter. After
each write the model of who put what takes a look.
"""

import authors as model
import world

CONSUMERS = (
    'c0000000-0000-4000-8000-000000000001',
    'c0000000-0000-4000-8000-000000000002',
)
ACTIONS = (
    'add trait',
    'remove trait',
    'toggle aggregate',
    'set inventory',
    'remove inventory',
    'change ratio',
    'allocate',
    'release',
    'delete provider',
    're-create provider',
    'create child',
    'take a name',
    'rename',
    'move',
    'delete trait',
)


class Others:
    """Acts on what is there; ``pick`` and ``what`` choose by number."""

    def __init__(self, replay, authors) -> None:
        self._replay = replay
        self._authors = authors
        self._made_anew: set[str] = set()

    def act(self, action: str, pick: int, what: int) -> None:
        """Do one thing to one of the providers there are."""
        uuids = sorted(self._authors.now)
        if uuids:
            uuid = uuids[pick % len(uuids)]
            getattr(self, action.replace(' ', '_').replace('-', ''))(
                uuid, what
            )

    def add_trait(self, uuid, what):
        name = _nth(world.OTHERS_TRAITS, what)
        self._ask('PUT', f'/traits/{name}')
        self._set(uuid, 'traits', self._now(uuid).traits | {name})

    def remove_trait(self, uuid, what):
        traits = self._now(uuid).traits
        if traits:
            self._set(uuid, 'traits', traits - {_nth(sorted(traits), what)})

    def toggle_aggregate(self, uuid, what):
        new = self._now(uuid).aggregates ^ {_nth(world.AGGREGATES, what)}
        self._set(uuid, 'aggregates', new)

    def set_inventory(self, uuid, what):
        rc = _nth(world.OTHERS_CLASSES, what)
        self._ask('PUT', f'/resource_classes/{rc}')
        self._records(uuid, rc, {'total': 4 + what % 5})

    def change_ratio(self, uuid, what):
        records = sorted(self._now(uuid).inventories)
        if records:
            rc = _nth(records, what)
            ratio = 2.0 + what % 3
            self._records(uuid, rc, {'allocation_ratio': ratio})

    def remove_inventory(self, uuid, what):
        records = sorted(self._now(uuid).inventories)
        if records:
            self._records(uuid, _nth(records, what), None)

    def allocate(self, uuid, what):
        records = sorted(self._now(uuid).inventories)
        if records:
            self.use(uuid, _nth(records, what), what)

    def allocate_one(self, uuid, what):
        """The generation moves, and nothing else, whatever is there."""
        if uuid in self._authors.now:
            self.allocate(uuid, what)

    def report(self, uuid, name):
        """Make a host's root, with what nova-compute puts there."""
        self._create(uuid, name, None)
        self._set(uuid, 'traits', world.OWN_TRAITS)
        self._records(uuid, 'VCPU', {'total': 64})

    def delete_all(self, uuids):
        """Delete these providers, the last first; those in use stay."""
        for uuid in reversed(uuids):
            self.delete_provider(uuid, 0)

    def moved_back(self):
        """Placement is restored: what it has shows generations again."""
        self._made_anew |= self._authors.now.keys()

    def use(self, uuid, rc, what):
        """A consumer takes one of a class, and disk that is shared.

        What it had it gives up by the same request. One that is deleted and
        made anew counts as the same, to placement too: its generation is one
        again, and a reshape that was planned for the old one passes.
        """
        path = f'/allocations/{_nth(CONSUMERS, what)}'
        generation = self._ask('GET', path).body.get('consumer_generation')
        parts = {uuid: {'resources': {rc: 1}}}
        shared = self._authors.now.get(world.SHARED)
        if shared and 'DISK_GB' in shared.inventories:
            parts.setdefault(world.SHARED, {'resources': {'DISK_GB': 1}})
        self._ask(
            'PUT',
            path,
            {
                'allocations': parts,
                'project_id': 'project',
                'user_id': 'user',
                'consumer_generation': generation,
                'consumer_type': 'INSTANCE',
            },
        )

    def release(self, uuid, what):
        self._ask('DELETE', f'/allocations/{_nth(CONSUMERS, what)}')

    def delete_provider(self, uuid, what):
        self._ask('DELETE', f'/resource_providers/{uuid}')

    def recreate_provider(self, uuid, what):
        """The same uuid again, so the agents may take it for the old one.

        One write more where it would be at the old one's generation: an agent
        in the middle of its writes could not tell them apart.
        """
        old = self._now(uuid)
        if uuid in world.LONE_ROOTS:
            return
        self.delete_provider(uuid, what)
        if uuid not in self._authors.now:
            self._create(uuid, old.name, old.parent)
            self._made_anew.add(uuid)
            if what % 2:
                self.add_trait(uuid, what)
            if self._now(uuid).generation == old.generation:
                self._write(uuid)

    def create_child(self, uuid, what):
        """An external child, as cyborg and neutron make them."""
        mine = f'e{what % 8}{uuid[2:]}'
        if uuid[0] != 'e':
            self._create(mine, f'external-{mine[:2]}-{uuid[:2]}', uuid)

    def take_a_name(self, uuid, what):
        name = _nth(sorted(world.ALL_NODES.values()), what)
        slot = _nth(world.SLOTS, what)
        self._create(f'd{what % 8}{uuid[2:]}', f'{name}-{slot}', None)

    def rename(self, uuid, what):
        if uuid not in world.ALL_NODES:
            self._update(uuid, f'renamed-{what % 3}', self._now(uuid).parent)

    def name(self, uuid, name):
        if uuid in self._authors.now:
            self._update(uuid, name, self._now(uuid).parent)

    def move(self, uuid, what):
        node, old = world.home(uuid), self._now(uuid)
        if uuid != node and node in self._authors.now:
            self._update(uuid, old.name, node)

    def delete_trait(self, uuid, what):
        """Placement refuses that while a provider carries it."""
        self._ask(
            'DELETE', f'/traits/{_nth(("CUSTOM_GOLD", "CUSTOM_RED"), what)}'
        )

    def stop(self, wanted_names, remembered) -> None:
        """Take away what stands in the way: the names of others' providers.

        One that was made anew by as many writes as the old one showed is taken
        for that (docs/ownership.md), so it gets one more.

        :param wanted_names: uuid → name
        :param remembered: returns the generations at which agents know one
        """
        for uuid in sorted(self._made_anew & self._authors.now.keys()):
            if self._now(uuid).generation in remembered(uuid):
                self._write(uuid)
        self._made_anew.clear()
        holders = {held.name: uuid for uuid, held in self._authors.now.items()}
        for uuid, name in wanted_names.items():
            holder = holders.get(name, uuid)
            if holder != uuid and holder[0] in 'de':
                self.delete_provider(holder, 0)
        for uuid, name in world.ALL_NODES.items():
            self.name(uuid, name)
        node = self._authors.now.get(world.N1)
        if world.LONE_ROOTS.keys() & self._authors.now and node is not None:
            # Whoever shares is to be found, even by an agent that lost all.
            aggregates = node.aggregates | {world.AGGREGATE}
            if aggregates != node.aggregates:
                self._set(node.uuid, 'aggregates', aggregates)

    def _now(self, uuid):
        return self._authors.now[uuid]

    def _create(self, uuid, name, parent):
        body = {'uuid': uuid, 'name': name}
        if parent is not None:
            body['parent_provider_uuid'] = parent
        self._ask('POST', '/resource_providers', body)

    def _update(self, uuid, name, parent):
        self._ask(
            'PUT',
            f'/resource_providers/{uuid}',
            {'name': name, 'parent_provider_uuid': parent},
        )

    def _write(self, uuid):
        """Change nothing; the generation rises all the same."""
        self._set(uuid, 'aggregates', self._now(uuid).aggregates)

    def _records(self, uuid, rc, fields):
        records = {
            name: record._asdict()
            for name, record in self._now(uuid).inventories.items()
        }
        if fields is None:
            del records[rc]
        else:
            records[rc] = {**records.get(rc, {}), **fields}
        self._set(uuid, 'inventories', records)

    def _set(self, uuid, collection, new):
        self._ask(
            'PUT',
            f'/resource_providers/{uuid}/{collection}',
            {
                collection: new if isinstance(new, dict) else sorted(new),
                'resource_provider_generation': self._now(uuid).generation,
            },
        )

    def _ask(self, method, path, body=None):
        answer = self._replay.call(method, path, body)
        self._authors.look(model.OTHERS)
        return answer


def _nth(some, number):
    return some[number % len(some)]
