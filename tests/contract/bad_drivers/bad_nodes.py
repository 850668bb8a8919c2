# SPDX-License-Identifier: Apache-2.0
"""Bad drivers for the rules about nodes, threads, events and reshapes."""

import threading

from bad import breaks
from rack import NETWORK, Rack
from variants import Constant, Plant

from compute_agent.testing.contract.rules import claims, lifetime, many_nodes
from compute_agent.testing.contract.trial import Trial
from compute_agent.testing.values import differences
from compute_agent.virt import driver

QUICK = (Constant(lifetime, _SECONDS=0.2),)


@breaks(
    'CA002',
    call='get_nodenames_by_uuid(): rack-0 has no uuid',
    fix='return a uuid for each node',
    weak=(
        'looks at no uuid',
        Plant(lifetime._check_uuids, lambda *_: None),
    ),
)
class HasNoUuids(Rack):
    def get_nodenames_by_uuid(self):
        return {}


@breaks(
    'CA021',
    call='close(): the thread rack still runs',
    fix='end and join every thread',
    weak=(
        'does not count the threads',
        Plant(lifetime._after, lambda _: set()),
    ),
    always=QUICK,
)
class LeavesAThread(Rack):
    """Its thread would run for ever; it ends when the driver is forgotten."""

    def __init__(self):
        super().__init__()
        self._end = threading.Event()

    def subscribe(self, wake):
        super().subscribe(wake)
        threading.Thread(
            target=self._end.wait, name='rack', daemon=True
        ).start()

    def __del__(self):
        self._end.set()


def wakes_at_all(of: Trial) -> None:
    """Check that an event wakes the agent, and not that close() ends it."""
    woken = threading.Event()
    of.make_driver().subscribe(woken.set)
    of.world.event()
    assert woken.is_set()


@breaks(
    'CA022',
    call='close(): wake was called after it',
    fix='stop listening in close()',
    weak=('looks only at the time before close()',),
    check=wakes_at_all,
    always=QUICK,
)
class ListensForEver(Rack):
    def close(self):
        """Forget to stop."""


@breaks(
    'CA028',
    call='get_available_nodes, facts and update_provider_tree: cycles of 2, 4',
    fix='read what nodes share once',
    weak=(
        'allows a thousand calls more',
        Constant(many_nodes, _SLACK=1000),
    ),
)
class ReadsEveryRackForEach(Rack):
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        for name in NETWORK.rows:
            found = self.ask(NETWORK.read, name)
            if name == nodename:
                entries = found
        self.describe(provider_tree, nodename, entries, allocations)


@breaks(
    'CA029',
    call='get_available_nodes() after a node came back',
    fix='as the node that it was',
    weak=(
        'takes any contents for the same',
        Plant(differences.between_contents, lambda *_: ''),
    ),
)
class MarksWhatComesBack(Rack):
    gone = ()

    def get_available_nodes(self):
        before, nodes = set(self._listed), super().get_available_nodes()
        self.gone = (*self.gone, *(before - set(nodes)))
        return nodes

    def label(self, tree, node, traits):
        back = ['CUSTOM_IS_BACK'] if node in self.gone else []
        tree.declare_traits(node, *traits, *back)


@breaks(
    'CA029',
    call="node_exists('rack-2'): it returned Existence.NO, and the provider",
    fix='return the same answer in each cycle',
    weak=(
        'looks for no provider',
        Plant(many_nodes._is_held, lambda *_: False),
    ),
)
class ChangesItsMind(Rack):
    denied = False

    def node_exists(self, nodename):
        answer = super().node_exists(nodename)
        if answer is driver.Existence.NO and self.denied:
            return driver.Existence.UNKNOWN
        self.denied = answer is driver.Existence.NO
        return answer


@breaks(
    'CA030',
    call='update_provider_tree in a cycle with 4 threads',
    fix='keep nothing of one node in an attribute',
    weak=(
        'lets no threads meet',
        Plant(many_nodes._Meeting.pause, lambda _: None),
        Constant(many_nodes, _SWITCH=0.005),
    ),
)
class KeepsTheCurrentRack(Rack):
    """Another thread replaces the rack while this one asks the network."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        self._current = nodename
        entries = self.ask(NETWORK.read, self._current)
        self.describe(provider_tree, self._current, entries, allocations)


@breaks(
    'CA031',
    call='update_provider_tree(…, allocations): no allocation moved',
    fix='raise ReshapeNeeded if inventory in use moves',
    weak=(
        'takes the places of allocations for other ones each time',
        Plant(claims._places, lambda _: object()),
    ),
)
class MovesNothing(Rack):
    def describe(self, tree, node, entries, allocations):
        old = [{'class': 'VGPU', 'total': 8}]
        kept = [e for e in entries if e.get('card') != 'gpu1']
        super().describe(tree, node, kept + old * (kept != entries), None)
