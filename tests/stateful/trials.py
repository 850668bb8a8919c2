# SPDX-License-Identifier: Apache-2.0
"""Courses of events that random steps seldom put together.

Each method of ``Trials`` is one step of ``machine.Machine``. It begins where
everything is in order, and lets several things happen in the one sequence that
once lost something. The quiet point after it judges the outcome; a trial that
has a promise of its own asserts it.
"""

import contextlib
import functools

import quiet
import wire as wiring
import world

from compute_agent.virt import driver as virt

RED = 'CUSTOM_RED'
OUTAGES = 5  # cycles in a row, each with a failure that is another node's
LONG = 700.0  # seconds; back-off and all other waits are over
BUSY = 2  # cycles in which somebody allocates between any two requests


class Trials:
    """Steps of several events."""

    _was_busy = False

    def arrives_in_an_outage(self, node, beside, kind, at):
        """A node is made in a cycle that fails elsewhere, and leaves."""
        with self._settled(f'arrives, {kind}'):
            self._leaves(node)
            self._let('one', 2)
            self._returns(node)
            self._dresses(beside)
            present = self._stations['one'].driver.present
            if beside in present:  # it is listed last, and fails last
                present[beside] = present.pop(beside)
            fault = wiring.Fault(
                kind, writes=True, at=at, about=beside, again=True
            )
            self._cycle('one', fault)
            self._armed.pop('one', None)
            self._leaves(node)

    def departs_in_outages(self, node, beside, kind):
        """A node leaves while each cycle fails for another node."""
        with self._settled(f'departs, {kind}'):
            self._leaves(node)
            for _ in range(OUTAGES):
                if self._is_dressed(beside, 'root') == self._carries(beside):
                    self._dresses(beside)
                fault = wiring.Fault(
                    kind, writes=True, at=0, about=beside, again=True
                )
                self._cycle('one', fault)
            self._armed.pop('one', None)
            left = quiet.departed(self._stations['one'], node)
            assert left == [], 'outages of another node keep it'

    def crash_and_allocations(self, node, slot, kind, at, what):
        """The agent dies; before it is back, others use its providers."""
        with self._settled(f'allocated after: {kind}'):
            agent = self._agent_of(node)
            self._dresses(node, slot)
            self._cycle(agent, wiring.Fault(kind, writes=True, at=at))
            self._armed.pop(agent, None)
            self._allocations_below(node, what)
            self._let(agent, 1)
            self._dresses(node, slot)

    def arrival_and_allocations(self, node, kind, at, what):
        """The same with a node that is new."""
        with self._settled(f'new, allocated after: {kind}'):
            self._leaves(node)
            self._let('one', 2)
            self._returns(node)
            self._cycle('one', wiring.Fault(kind, writes=True, at=at))
            self._armed.pop('one', None)
            self._allocations_below(node, what)
            self._let('one', 2)
            self._leaves(node)

    def one_pool_of_two(self, kind, at):
        """Agent one dies over the pool; two makes it, and one's node goes."""
        with self._settled(f'pool: {kind}'):
            self._returns(world.N2)
            self._wanted(world.N2).pool = 100
            self._cycle('one', wiring.Fault(kind, writes=True, at=at))
            self._armed.pop('one', None)
            self._wanted(world.N4).pool = 100
            self._let('two', 1)
            self._let('one', 1)
            self._leaves(world.N2)
            self._let('one', 2)
            self._wanted(world.N2).pool = world.STOPS

    def busy_root(self, node, kind, what):
        """Somebody allocates on the root before each write (or each read).

        Once in a sequence: it costs as much as all the other steps.
        """
        if self._was_busy:
            return
        self._was_busy = True
        with self._settled(f'busy root: {kind}'):
            agent = self._agent_of(node)
            for slot in ('root', *world.SLOTS):
                self._dresses(node, slot)
            meanwhile = functools.partial(self.others.allocate_one, node, what)
            for _ in range(BUSY):
                fault = wiring.Fault(
                    'busy root', kind == 'writes', 0, meanwhile, again=True
                )
                self._cycle(agent, fault)
            self._armed.pop(agent, None)
            self.others.release(node, what)
            lines = quiet.children(self._stations[agent], node)
            assert lines == [], 'a busy root keeps its children waiting'

    def restored(self, node, slot, changes):
        """Placement goes back to what it was some changes ago.

        All providers of the agent changed since, so many generations fall.
        What it had put before is its own, and goes when it is wanted no more.
        """
        with self._settled('placement restored'):
            agent = self._agent_of(node)
            self._dresses_all(agent, on=True)
            self._let(agent, 1)
            backup = self.replay.database(), self.authors.backup()
            self._gilds_all(agent)
            self._let(agent, 1)
            for change in changes:
                if change == 'child' and slot != 'root':
                    self.child(node, slot, 'none')
                elif change == 'node':
                    self._leaves(node)
                else:
                    self._dresses(node, slot)
                self._let(agent, 1)
            self.replay.start(backup[0])
            self.authors.restored(backup[1])
            self.others.moved_back()
            self._lets_time_pass(agent, 3)
            self._dresses_all(agent, on=False)

    # --- inside ---------------------------------------------------------------

    @contextlib.contextmanager
    def _settled(self, rule):
        """Begin in order; note the rule."""
        self.quiet()
        self._broken = True
        self._note(f'trial: {rule}')
        yield

    def _agent_of(self, node):
        (name,) = (a for a in world.AGENTS if node in world.NODES[a])
        return name

    def _leaves(self, node):
        self.leave(node, virt.Existence.NO)

    def _returns(self, node):
        self.leave(node, None)

    def _let(self, agent, cycles):
        for _ in range(cycles):
            self._cycle(agent, None)

    def _lets_all(self, cycles):
        for agent in world.AGENTS:
            self._let(agent, cycles)

    def _lets_time_pass(self, agent, cycles):
        for _ in range(cycles):
            self._stations[agent].clock.now += LONG
            self._cycle(agent, None)

    def _dresses_all(self, agent, *, on):
        for node in world.NODES[agent]:
            for slot in ('root', *world.SLOTS):
                if on is not self._is_dressed(node, slot):
                    self._dresses(node, slot)

    def _gilds_all(self, agent):
        """Let each provider of an agent change, in its aggregates."""
        for node in world.NODES[agent]:
            for place in self._wanted(node).places.values():
                said = place.said['aggregate']
                names = said.asserted ^ {world.OTHER_AGGREGATE}
                form = said.form if said.speaks else world.DECLARE
                listed = world.Said(form, world.listed(names))
                place.said['aggregate'] = listed

    def _is_dressed(self, node, slot):
        uuid = node if slot == 'root' else world.child(node, slot)
        place = self._wanted(node).places.get(uuid)
        return place is not None and RED in place.said['trait'].asserted

    def _carries(self, node):
        held = self.authors.now.get(node)
        return held is not None and RED in held.traits

    def _dresses(self, node, slot='root'):
        """Let the driver assert a trait, or assert it no longer."""
        uuid = node if slot == 'root' else world.child(node, slot)
        place = self._wanted(node).places.get(uuid)
        if place is not None:
            said = place.said['trait']
            names = said.asserted ^ {RED}
            form = said.form if said.speaks else world.DECLARE
            place.said['trait'] = world.Said(form, world.listed(names))

    def _allocations_below(self, node, what):
        for uuid in quiet.below(self.authors.now, node):
            self.others.allocate(uuid, what)
        self.others.release(node, what)
