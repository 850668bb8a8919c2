# SPDX-License-Identifier: Apache-2.0
"""The state machine: three agents, everybody else, faults, deaths, quiet.

Hypothesis draws the steps. Every request of an agent is judged as it is sent
(``judge.py``); a *quiet point* is where nobody interferes: two cycles must
reach what is wanted, three more must write nothing.
"""

import functools
import sys

import authors as model
import choices
import others
import quiet
import ruled_steps
import seldom
import station as stations
import wire as wiring
import world
from hypothesis import stateful
from hypothesis import strategies as st

from compute_agent.cycle.resource_tracker import Status
from compute_agent.virt import driver as virt


class Machine(
    seldom.Seldom, ruled_steps.RuledSteps, stateful.RuleBasedStateMachine
):
    """One sequence.

    ``replay``, ``boot`` and ``tally`` are set on a subclass.

    :cvar failure: the error of the last sequence that failed
    """

    replay = None
    boot = None
    tally = None
    failure = None

    def __init__(self) -> None:
        super().__init__()
        self._since: set[str] = set()
        self._changed = True
        self._broken = False
        self._stations: dict[str, stations.Station] = {}
        self._armed: dict[str, wiring.Fault | None] = {}
        self._copies: dict[str, bytes | None] = {}
        self.tally.sequence()

    @stateful.initialize(booted=st.sampled_from((True, True, True, False)))
    def begin(self, booted):
        self.replay.start(self.boot.placement if booted else None)
        self.authors = model.Authors(self.replay)
        if booted:
            self.authors.copy(self.boot.authors)
        self.others = others.Others(self.replay, self.authors)
        for name in world.AGENTS:
            kept = self.boot.records[name] if booted else None
            made = stations.Station(name, self.replay, self.authors)
            made.driver.wanted = {n: world.first(n) for n in world.NODES[name]}
            made.start(kept)
            self._stations[name] = made
            self._copies[name] = kept

    @stateful.rule(
        change=choices.one_of(
            choices.CHANGES | choices.TRIALS | choices.SELDOM_AT_ALL
        ),
        then=choices.one_of(choices.CYCLES),
    )
    def step(self, change, then):
        self._broken = True
        for name, *given in (change, then):
            getattr(self, name.replace(' ', '_'))(*given)
        self._broken = False

    def seldom(self, event):
        """One of the courses of events that are drawn less often."""
        name, *given = event
        getattr(self, name.replace(' ', '_'))(*given)

    def teardown(self):
        """Every sequence ends in a quiet point, unless it is broken."""
        try:
            if not self._broken:
                self.quiet()
        finally:
            exc = sys.exception()
            if isinstance(exc, Exception):
                type(self).failure = exc
            for each in self._stations.values():
                each.end()

    # --- what drivers say -----------------------------------------------------

    def traits(self, node, slot, form, names):
        self._say(node, slot, 'trait', world.Said(form, world.listed(names)))

    def aggregates(self, node, slot, form, names):
        self._say(
            node, slot, 'aggregate', world.Said(form, world.listed(names))
        )

    def inventory(self, node, slot, form, names):
        self._say(node, slot, 'inventory', world.Said(form, names))

    def behaviour(self, node, behaviour):
        self._wanted(node).behaviour = behaviour
        self._note(f'driver: {behaviour}')

    def child(self, node, slot, above):
        """A child comes, moves or goes; with it what is below."""
        wanted = self._wanted(node)
        uuid = world.child(node, slot)
        parent = (
            node
            if above == 'root'
            else world.child(node, above)
            if (above != 'none')
            else None
        )
        if parent is None or (parent != node and slot != 'deep'):
            self._note('child goes')
            wanted.places.pop(uuid, None)
        elif parent in wanted.places:
            known = uuid in wanted.places
            self._note('child moves' if known else 'child comes')
            name = f'{world.ALL_NODES[node]}-{slot}'
            taken = {p.name for p in wanted.places.values()}
            if not known:
                wanted.places[uuid] = world.Place(
                    f'{name}-too' if name in taken else name
                )
            wanted.places[uuid].parent = parent
        wanted.sort()

    def names(self, node):
        places = self._wanted(node).places
        one, two = (places.get(world.child(node, s)) for s in 'ab')
        if one and two:
            self._note('names swapped')
            one.name, two.name = two.name, one.name

    def reshape(self, node, slot, back, pick):
        """A class in use goes from the root to a child, or back."""
        wanted, ends = self._wanted(node), [node, world.child(node, slot)]
        if not wanted.places.keys() >= set(ends):
            return
        giver, taker = reversed(ends) if back else ends
        gives, takes = (
            dict(wanted.places[u].said['inventory'].names)
            for u in (giver, taker)
        )
        if gives and wanted.places[giver].said['inventory'].form == 'update':
            rc = sorted(gives)[pick % len(gives)]
            takes[rc] = gives.pop(rc)
            for uuid, names in ((giver, gives), (taker, takes)):
                said = world.Said('update', names)
                wanted.places[uuid].said['inventory'] = said
            wanted.moves[rc] = giver, taker
            self.others.use(giver, rc, pick)
            self._note('reshape')

    def leave(self, node, answer):
        driver = self._stations['one'].driver
        if answer is None or answer is virt.Existence.YES:
            driver.present[node] = world.ALL_NODES[node]
            self._note('node comes back')
        else:
            driver.present.pop(node, None)
            driver.exists[node] = answer
            self._note(f'node leaves: {answer.value}')

    def pool(self, node, said, traits, joins):
        """A driver describes the pool, says nothing of it, or takes it off."""
        wanted = self._wanted(node)
        wanted.pool, wanted.pool_traits = said, frozenset(traits)
        place = wanted.places[node]
        aggregates = {world.AGGREGATE, *[world.OTHER_AGGREGATE] * joins}
        place.said['aggregate'] = world.Said(
            'declare', world.listed(aggregates)
        )
        self._note(
            f'pool: {"described" if said in world.POOL_SIZES else said}'
        )

    def leaves_for_good(self, agent):
        """A person has the agent leave its nodes; it may begin anew."""
        self._stations[agent].leave()
        self._note('leave')

    # --- everybody else -------------------------------------------------------

    def other(self, action, pick, what):
        self._note(f'other: {action}')
        self.others.act(action, pick, what)

    def another(self, action, pick, what):
        self._note(f'other: {action}')
        self.others.act(action, pick, what)

    def root_name(self, node, own):
        """Somebody renames a node, or takes that back."""
        self._note('root: its name' if own else 'root: another name')
        name = world.ALL_NODES[node]
        self.others.name(node, name if own else f'{name}-renamed')

    # --- the agents -----------------------------------------------------------

    def file(self, agent, traits):
        self._stations[agent].file(traits)
        self._note(f'file of {len(traits)}')

    def adopt(self, node, pick):
        """What is below a node, whoever made it, becomes the agent's."""
        below = quiet.below(self.authors.now, node)[1:]
        if below:
            self._note('adopt')
            (station,) = (
                s for s in self._stations.values() if node in s.nodes
            )
            station.adopt(node, below[pick % len(below)])

    def limit(self, agent, percent):
        self._note(f'limit: {percent}')
        self._stations[agent].allow(percent)

    def plan(self, agent):
        self._stations[agent].plan()
        self._note('plan')

    def nothing(self):
        """Nothing changes."""

    def no_cycle(self):
        """Nobody looks."""

    def cycle(self, agent):
        self._cycle(agent, None)

    def faulty(self, agent, kind, at):
        self._cycle(agent, wiring.Fault(kind, writes=True, at=at))

    faulty_again = faulty

    def faulty_read(self, agent, kind, at):
        self._cycle(agent, wiring.Fault(kind, writes=False, at=at))

    def disturbed(self, agent, writes, at, action, pick, what):
        meanwhile = functools.partial(self.others.act, action, pick, what)
        kind = f'meanwhile: {action}'
        self._cycle(agent, wiring.Fault(kind, writes, at, meanwhile))

    disturbed_again = disturbed

    def record(self, agent, what):
        self._note(f'record: {what}')
        station = self._stations[agent]
        if what == 'copy':
            self._copies[agent] = station.record()
        elif what == 'restart':
            station.start(station.record())
        elif what == 'lose':
            self.authors.forgotten(agent)
            station.judge.forget()
            station.start(None)
        else:
            self.authors.confused(agent)
            station.judge.forget()
            station.start(self._copies[agent])

    def quiet(self):
        """Nobody interferes: two cycles to get there, then none writes."""
        if not self._changed:
            return
        self._broken = True
        self._patience = True
        self._armed.clear()
        for each in self._stations.values():
            each.allow(None)
        self._agree()
        self.tally.step('quiet')
        self.others.stop(
            {
                uuid: place.name
                for each in self._stations.values()
                for wanted in each.driver.wanted.values()
                for uuid, place in wanted.places.items()
            },
            self._remembered,
        )
        for uuid, name in world.CARDS.items():
            self.others.name(uuid, name)
        patience, waits, leaves = 2, len(self._stations), True
        while patience:
            patience -= 1
            for name, each in self._stations.items():
                each.clock.now += stations.BACK_OFF_IS_OVER
                results = self._cycle(name, None)
                if waits and any(map(_waits_a_cycle, results or ())):
                    # That cycle does not count, once for each agent.
                    patience, waits = max(patience, 2), waits - 1
                if leaves and any(
                    _is_taken_off(each, r) for r in results or ()
                ):
                    # The cycle after it forgets its claims to others' pools.
                    patience, leaves = max(patience, 2), False
                if self._patience and any(map(_contended, results or ())):
                    # What was undone again and again is left for an hour.
                    patience, self._patience = 12, False
        for each in self._stations.values():
            faults = quiet.faults(each)
            assert faults == [], faults
        self._stays()
        self._since.clear()
        self._broken = self._changed = False

    def _agree(self):
        """Let all drivers that describe the pool say the same of its size.

        One driver does not describe it for one node and take it off by another.
        """
        wanted = [
            one
            for each in self._stations.values()
            for one in each.driver.wanted.values()
            if isinstance(one.pool, int)
        ]
        size = max((one.pool for one in wanted), default=0)
        for one in wanted:
            one.pool = size
        for each in self._stations.values():
            said = each.driver.wanted.values()
            for one in said if any(w.pool == size for w in said) else ():
                one.pool = size if one.pool == size else world.STOPS

    def _stays(self):
        for _ in range(3):
            for name, each in self._stations.items():
                results = each.sync()
                assert results is not None
                writes = each.wire.writes
                assert writes == [], f'{name} goes on to write: {writes}'
                self._check_results(each, results)
        for each in self._stations.values():
            self.authors.settled(each.name)
            results = each.plan()
            self._check_results(each, results)

    def _check_results(self, station, results):
        for result in results:
            node = result.node.uuid
            told = station.driver.told.get(node)
            if told is not None and station.judge.fails_by_rules(node):
                assert result.status is Status.FAILED, result
                assert not result.plan.operations, result
            elif (
                node in station.driver.present
                and told is not None
                and not quiet.tangled(station, node)
                and not quiet.allocated(station, node)
                and not quiet.blocked_pool(station, told)
            ):
                assert result.status is Status.DONE, result
                assert not result.plan.operations, result

    # --- inside ---------------------------------------------------------------

    def _cycle(self, agent, fault):
        station = self._stations[agent]
        station.clock.now += 60
        # What met no request goes on waiting for one.
        fault = self._armed[agent] = fault or self._armed.get(agent)
        results = station.sync(fault)
        hit = fault is not None and fault.hit
        self._changed = True
        self.tally.cycle(self._since, fault.kind if hit else 'none')
        if hit:
            del self._armed[agent]
        else:
            self._since.clear()
        return results

    def _remembered(self, uuid):
        return {
            reading.provider.generation
            for each in self._stations.values()
            for reading in each.agent.state.snapshot.readings([uuid]).values()
        }

    def _wanted(self, node):
        for each in self._stations.values():
            if node in each.driver.wanted:
                return each.driver.wanted[node]
        raise AssertionError(node)

    def _say(self, node, slot, kind, said):
        uuid = node if slot == 'root' else world.child(node, slot)
        place = self._wanted(node).places.get(uuid)
        if uuid == world.N1 and kind == 'aggregate':
            # It shares, so it stays where what it shares is found.
            if said.form == 'remove':
                said.names.pop(world.AGGREGATE, None)
            else:
                said.names[world.AGGREGATE] = (0, None)
        if place is not None:
            place.said[kind] = said
        self._note(f'{kind}s: {said.form}')

    def _note(self, rule):
        self._since.add(rule)
        self._changed = True
        self.tally.step(rule)


_LOOKS_AGAIN = (
    'another writer deleted its root',
    'the generation fell, so this cycle changes nothing here',
)


def _contended(result):
    return any('contended' in line for line in (result.reason, *result.notes))


def _waits_a_cycle(result):
    return any(why in result.reason for why in _LOOKS_AGAIN)


def _is_taken_off(station, result):
    is_departed = result.node.uuid not in station.driver.present
    return is_departed and bool(result.applied)
