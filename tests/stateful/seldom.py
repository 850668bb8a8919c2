# SPDX-License-Identifier: Apache-2.0
"""Courses of events in which the agent has to wait, or to ask.

Each method of ``Seldom`` is one step of ``machine.Machine``, like those of
``trials.Trials``. All of them together are drawn as often as one trial.
"""

import quiet
import trials
import world

AGES = 360.0  # seconds between two undos: nova-compute takes five cycles
HOUR = 3700.0  # seconds; a contended name is tried again
LAG = 120.0  # seconds for which a lower generation may be a late answer
MUCH, LITTLE = 64, 4  # VCPU of each root
SHARE = 20  # percent of the nodes that may lose something at once
FEW_NODES = 3  # so many are a mass


class Seldom(trials.Trials):
    """Steps of several events, with a promise each."""

    def first_write(self, node):
        """A node comes whose root another made and filled: it needs a yes."""
        with self._settled('first write'):
            self._leaves(node)
            self._let('one', 2)
            if node in self.authors.now:
                return  # in use, or with another's provider below it
            self.others.report(node, world.ALL_NODES[node])
            before = self.authors.now[node]
            station = self._stations['one']
            station.start(station.record(), takes_over=False)
            self._returns(node)
            self._let('one', 2)
            assert self.authors.now[node] == before, 'nobody said yes'
            station.start(station.record())

    def root_deleted(self, node):
        """Another deletes a node's tree: the node waits for a cycle."""
        with self._settled('root deleted'):
            agent = self._agent_of(node)
            held = self.authors.now.get(node)
            self.others.delete_all(quiet.below(self.authors.now, node))
            is_gone = node not in self.authors.now
            self._let(agent, 1)
            if held and is_gone and held.traits >= world.OWN_TRAITS:
                assert node not in self.authors.now, 'made again at once'

    def capacity_falls(self, agent):
        """All nodes of an agent lose most of a class: a person has to agree.

        A loss of one or two nodes is no mass.
        """
        with self._settled('capacity falls'):
            self._sizes(agent, MUCH)
            self._let(agent, 1)
            before = self._size(agent)
            self._stations[agent].allow(SHARE)
            self._sizes(agent, LITTLE)
            self._let(agent, 1)
            after = self._size(agent)
            fell = [n for n, size in before.items() if after.get(n, 0) < size]
            assert len(fell) < FEW_NODES, f'{before} VCPU became {after}'
            self._stations[agent].allow(None)

    def many_leave(self):
        """Two nodes leave, and every deletion needs a person's yes."""
        with self._settled('many leave'):
            self._returns(world.N2)
            self._returns(world.N3)
            self._let('one', 1)
            self._stations['one'].allow(0)
            self._leaves(world.N2)
            self._leaves(world.N3)
            self._let('one', 1)
            for node in (world.N2, world.N3):
                left = quiet.offered(self._stations['one'], node)
                assert left == [], 'what is gone is still on offer'
            self._stations['one'].allow(None)

    def undone_again(self, node, restarts):
        """Another takes a trait off every six minutes: three times is enough.

        :param restarts: whether the agent is restarted, once it knows of an
            undo
        """
        with self._settled('undone again'):
            agent = self._agent_of(node)
            if not self._puts_on(agent, node):
                return
            station = self._stations[agent]
            for number in range(3):
                self._strips(node)
                station.clock.now += AGES
                if restarts and number:
                    station.start(station.record())
                self._let(agent, 1)
                if not self._carries(node):
                    return  # it was undone before this
            self._strips(node)
            station.clock.now += AGES
            self._let(agent, 1)
            assert not self._carries(node), 'it is put on for ever'
            station.clock.now += HOUR
            self._let(agent, 1)

    def lags(self, agent):
        """Placement answers late for two cycles, and then as it is.

        All providers of the agent changed since, so many generations fall.
        """
        with self._settled('placement lags'):
            self._dresses_all(agent, on=True)
            self._let(agent, 1)
            late = self.replay.database(), self.authors.backup()
            self._gilds_all(agent)
            self._let(agent, 1)
            real = self.replay.database(), self.authors.backup()
            station = self._stations[agent]
            station.start(station.record(), fall_wait=LAG)
            self._shows(late)
            for _ in range(2):
                self._let(agent, 1)
                assert station.wire.writes == [], 'a late answer is believed'
            self._shows(real)
            station.start(station.record())
            self._dresses_all(agent, on=False)

    def not_deletable(self, node, what):
        """A child is not wanted any more, and another's is below it."""
        with self._settled('not deletable'):
            child = world.child(node, 'a')
            if child in self.authors.now:
                self.others.create_child(child, what)
                self.child(node, 'a', 'none')

    def pool_made_again(self, what):
        """Another deletes the pool of two agents, and agent two makes it."""
        with self._settled('pool made again'):
            self._returns(world.N2)
            self._wanted(world.N2).pool = 100
            self._wanted(world.N4).pool = 100
            self._let('one', 1)
            self._let('two', 1)
            if world.POOL in self.authors.now:
                self.others.add_trait(world.POOL, what)
            self._let('one', 1)
            self.others.delete_all([world.POOL])
            self._let('two', 2)
            self._lets_time_pass('one', 2)
            self._wanted(world.N2).pool = world.STOPS
            self._let('one', 2)

    def pool_is_left(self, last):
        """All describe the pool and then take it off, one after another."""
        with self._settled('pool is left'):
            nodes = sorted(world.ALL_NODES, key=lambda node: node == last)
            for node in nodes:
                if node in {world.N2, world.N3}:
                    self._returns(node)
                self._wanted(node).behaviour = 'tree'
                self.pool(node, 100, (), joins=True)
            self._lets_all(2)
            for node in nodes:
                assert world.POOL in self.authors.now, 'it went too early'
                self.pool(node, world.REMOVES, (), joins=False)
                self._lets_all(1)

    # --- inside ---------------------------------------------------------------

    def _puts_on(self, agent, node):
        """Return whether the agent has just put a trait on a node."""
        if self._is_dressed(node, 'root') or self._carries(node):
            return False
        self._dresses(node)
        self._let(agent, 1)
        return self._carries(node)

    def _strips(self, node):
        traits = self.authors.now[node].traits
        self.others.remove_trait(node, sorted(traits).index(trials.RED))

    def _sizes(self, agent, total):
        for node in world.NODES[agent]:
            said = world.Said('update', {'VCPU': (total, None)})
            self._wanted(node).places[node].said['inventory'] = said

    def _size(self, agent):
        """Return the VCPU of each node that has some."""
        held = {n: self.authors.now.get(n) for n in world.NODES[agent]}
        return {
            node: one.inventories['VCPU'].total
            for node, one in held.items()
            if one is not None and 'VCPU' in one.inventories
        }

    def _shows(self, kept):
        self.replay.start(kept[0])
        self.authors.restored(kept[1])
