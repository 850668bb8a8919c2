# SPDX-License-Identifier: Apache-2.0
"""A driver that keeps every rule, and the network that it asks.

Each bad driver is this one with one thing done in another way.
"""

import uuid as uuidlib

from compute_agent import errors, testing
from compute_agent.virt import driver
from compute_agent.virt.values import changes, finding

NAMESPACE = uuidlib.UUID('1c0a7c52-6f0e-4d0b-8f65-2d6f7a7c9b10')
COOLED = 'CUSTOM_COOLED_BY_AIR'


class Network:
    """The world outside: racks that tell their contents.

    Every answer is ``{'count': n, 'entries': [n entries]}``. A card of a rack
    lists its functions, and says how many there are. The log has the racks that
    changed after a position, and its end.
    """

    def __init__(self):
        self.set_up(2)

    def set_up(self, count):
        """Become a new network with this number of racks."""
        self.listeners = []
        self.rows = {}
        self.logged = []
        self.resize(count)

    def resize(self, count):
        before = self.rows
        self.rows = {
            f'rack-{n}': before.get(f'rack-{n}') or self._row(n)
            for n in range(count)
        }
        self.logged += sorted(before.keys() ^ self.rows.keys())

    def change(self):
        for name, row in self.rows.items():
            row['version'] += 1
            row['entries'][0]['total'] += 1
            self.logged.append(name)

    def move(self):
        """Move the graphics cards of each rack to a provider of their own."""
        for name, row in self.rows.items():
            row['version'] += 1
            row['entries'][1] = _card('gpu1', 8)
            self.logged.append(name)

    def take_out(self, key):
        """Take the first entry with such a key out of each rack."""
        for name, row in self.rows.items():
            row['version'] += 1
            gone = next(e for e in row['entries'] if key in e)
            row['entries'].remove(gone)
            self.logged.append(name)

    def tell(self):
        for listener in list(self.listeners):
            listener()

    # --- what the driver asks ------------------------------------------------

    def nodes(self):
        return _answer(map(self._entry, self.rows))

    def log(self, after):
        """Return the racks of the log that are here; none of them at first."""
        end = len(self.logged)
        names = set(self.logged[end if after is None else after :])
        here = sorted(names & self.rows.keys())
        return {**_answer(map(self._entry, here)), 'end': end}

    def read(self, name):
        if name not in self.rows:
            raise ConnectionRefusedError(f'{name} is gone')
        return _answer(dict(entry) for entry in self.rows[name]['entries'])

    def _entry(self, name):
        return {
            'name': name,
            'uuid': str(uuidlib.uuid5(NAMESPACE, name)),
            'version': self.rows[name]['version'],
        }

    def _row(self, number):
        return {
            'version': 1,
            'entries': [
                {'class': 'CUSTOM_SLOTS', 'total': 10 + number},
                {'class': 'VGPU', 'total': 8},
                _card('gpu0', 4),
                {'trait': COOLED},
                {'trait': 'CUSTOM_RACK'},
            ],
        }


def _card(name, total):
    functions = [f'{name}.{n}' for n in range(total)]
    return {'card': name, 'total': total, 'functions': functions}


def _answer(entries):
    entries = list(entries)
    return {'count': len(entries), 'entries': entries}


SHAPES = (
    {'name': str, 'uuid': str, 'version': int},
    {'class': str, 'total': int},
    {'card': str, 'total': int, 'functions': list},
    {'trait': str},
)


def is_entry(one):
    """Return True for an entry as the network sends it."""
    if not isinstance(one, dict):
        return False
    types = {key: type(value) for key, value in one.items()}
    functions = one.get('functions')
    return types in SHAPES and (
        functions is None
        or (
            len(functions) == one['total']
            and all(isinstance(name, str) for name in functions)
        )
    )


def is_log(answer):
    """Return True for an answer about the log that is whole."""
    return (
        isinstance(answer, dict)
        and isinstance(answer.get('entries'), list)
        and len(answer['entries']) == answer.get('count')
        and all(map(is_entry, answer['entries']))
        and isinstance(answer.get('end'), int)
    )


NETWORK = Network()


def world():
    """Return a fresh world of two racks."""
    NETWORK.set_up(2)
    return testing.World(
        seams=[
            testing.Seam('network', NETWORK, 'nodes'),
            testing.Seam('network', NETWORK, 'read'),
            testing.Seam('network', NETWORK, 'log'),
        ],
        change=NETWORK.change,
        nodes=NETWORK.resize,
        reshape=NETWORK.move,
        event=NETWORK.tell,
    )


CAPABILITIES = (testing.Capability.SEVERAL_NODES, testing.Capability.RESHAPE)


class Rack(driver.ComputeDriver):
    """Each rack is a node; a graphics card with functions is a child."""

    authority = (COOLED,)

    def __init__(self):
        self._listed = {}
        self._wake = None

    @classmethod
    def from_conf(cls, conf):
        return cls()

    # --- nodes ---------------------------------------------------------------

    def get_available_nodes(self):
        self._listed = {one['name']: one for one in self.ask(NETWORK.nodes)}
        return sorted(self._listed)

    def get_nodenames_by_uuid(self):
        return {one['uuid']: name for name, one in self._listed.items()}

    def get_titles(self):
        return {name: name.replace('-', ' ') for name in self._listed}

    def node_exists(self, nodename):
        if nodename in self.get_available_nodes():
            return driver.Existence.YES
        return driver.Existence.NO

    def facts(self, nodename):
        return nodename, self._listed[nodename]['version']

    def changes(self, since):
        end, racks = self.heard(since)
        new = {
            one['name']: one
            for one in racks
            if self._listed.get(one['name']) != one
        }
        self._listed = {**self._listed, **new}
        return changes.Changes(names=sorted(new), since=end)

    def heard(self, since):
        """Return the end of the log, and the racks that changed before it."""
        try:
            answer = NETWORK.log(since)
        except OSError as exc:
            raise errors.DriverError(f'no log of the racks: {exc}') from exc
        if not is_log(answer):
            raise errors.DriverError('the log of the racks is odd')
        return answer['end'], answer['entries']

    # --- descriptions --------------------------------------------------------

    def ask(self, function, *arguments):
        """Return the entries of a whole answer."""
        try:
            answer = function(*arguments)
        except OSError as exc:
            raise errors.DriverError(
                f'the racks did not answer: {exc}; look at their network'
            ) from exc
        return self.entries(answer)

    def entries(self, answer):
        found = answer.get('entries') if isinstance(answer, dict) else None
        if (
            isinstance(found, list)
            and 0 < len(found) == answer.get('count')
            and all(map(is_entry, found))
        ):
            return found
        raise errors.DriverError(
            'the racks sent a part of an answer, or garbage; look at their '
            'network'
        )

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        entries = self.ask(NETWORK.read, nodename)
        self.describe(provider_tree, nodename, entries, allocations)

    def describe(self, tree, node, entries, allocations):
        inventory = {
            one['class']: {'total': one['total']}
            for one in entries
            if 'class' in one
        }
        moves = 'VGPU' not in inventory and 'VGPU' in tree.data(node).inventory
        if moves and allocations is None:
            raise errors.ReshapeNeeded
        tree.declare_inventory(node, inventory)
        self.label(tree, node, [e['trait'] for e in entries if 'trait' in e])
        cards = [one for one in entries if 'card' in one]
        self.remove_cards(tree, node, cards)
        for one in cards:
            self.add_card(tree, node, one)
        if moves:
            self.move(tree, node, allocations)

    def label(self, tree, node, traits):
        tree.declare_traits(node, *traits)

    def remove_cards(self, tree, node, entries):
        here = {self.card_name(node, one['card']) for one in entries}
        for uuid in tree.get_provider_uuids(node):
            name = tree.data(uuid).name
            if name.startswith(f'{node}-gpu') and name not in here:
                tree.remove(uuid)

    def add_card(self, tree, node, entry):
        name = self.card_name(node, entry['card'])
        if not tree.exists(name):
            tree.new_child(name, node)
        functions = self.functions(entry)
        tree.declare_inventory(
            name, {'VGPU': {'total': functions}} if functions else {}
        )

    def functions(self, entry):
        return len(entry['functions'])

    def card_name(self, node, card):
        return f'{node}-{card}'

    def move(self, tree, node, allocations):
        root = tree.data(node).uuid
        card = tree.data(self.card_name(node, 'gpu1')).uuid
        for consumer in allocations.values():
            given = consumer['allocations']
            amount = given.get(root, {}).get('resources', {}).pop('VGPU', 0)
            if amount:
                given[card] = {'resources': {'VGPU': amount}}

    # --- evidence and events -------------------------------------------------

    def evidence(self, nodename):
        return self.findings(self.ask(NETWORK.read, nodename))

    def findings(self, entries):
        return [
            finding.Finding(
                trait=one['trait'],
                found=finding.Found.PRESENT,
                fact=one['trait'].lower(),
                sources=('network',),
            )
            for one in entries
            if 'trait' in one
        ]

    def subscribe(self, wake):
        self._wake = wake
        NETWORK.listeners.append(wake)

    def close(self):
        if self._wake in NETWORK.listeners:
            NETWORK.listeners.remove(self._wake)
