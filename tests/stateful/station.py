# SPDX-License-Identifier: Apache-2.0
"""One agent of the stateful test: its host, its record, its life and death.

The record lives in memory and is copied at the moment of a kill, so what the
dying process still does in its ``finally`` is not in it.
"""

import pathlib
import tempfile

import agents
import judge as judging
import state_copy
import wire as wiring
import world

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.cycle.resource_tracker import Status
from compute_agent.limits import backoff, blast_radius, contention
from compute_agent.provider_config import files
from compute_agent.tree.node import Node
from compute_agent.virt import drivers as virt

BACK_OFF_IS_OVER = 700.0


class Station:
    """A host, and the agents that live there one after another."""

    def __init__(self, name, replay, authors) -> None:
        self.name = name
        self.authors = authors
        self.judge = judging.Judge(name, authors)
        self.driver = self.judge.driver
        self.ruled = self.judge.ruled
        self.wire = wiring.Wire(replay, self.judge)
        self.wire.at_death = self._die
        self.clock = agents.Clock()
        self.agent: agents.Agent | None = None
        self.limit: blast_radius.Limits | None = None
        self._left: bytes | None = None
        self._directory = tempfile.TemporaryDirectory()
        self._files: files.ProviderConfigFiles | None = None

    @property
    def nodes(self):
        """Its nodes by uuid, present or not."""
        return world.NODES[self.name]

    def file(self, traits: set[str]) -> None:
        """Let the operator's file give these; the agent is told."""
        path = pathlib.Path(self._directory.name, 'operators.yaml')
        path.unlink(missing_ok=True)
        if traits:
            path.write_text(world.FILE.format(', '.join(sorted(traits))))
        self.judge.filed = set(traits)
        self._files.reload()

    def allow(self, percent: float | None) -> None:
        """Let no more of the nodes lose something in a cycle.

        :param percent: None for any number, 0 for none
        """
        self.judge.limit = percent
        self.limit = None
        if percent is not None:
            self.limit = blast_radius.Limits(percent=percent)

    def adopt(self, node: str, uuid: str) -> None:
        """Count a provider as the agent's; the driver wants no other's."""
        seen = {uuid: self.authors.now[uuid].generation}
        self.agent.state.journal.adopt(node, seen)
        self.authors.adopted(self.name, uuid)
        if world.home(uuid) != node:
            self.driver.unwanted.add(uuid)

    def end(self) -> None:
        """Leave nothing behind."""
        self.close()
        self._directory.cleanup()

    def start(self, kept: bytes | None, **options) -> None:
        """Start an agent on a record, or on none.

        :param options: those of ``agents.AgentFactory``
        """
        self.close()
        self._files = files.ProviderConfigFiles(
            lambda: (self._directory.name, True)
        )
        self._files.begin()
        drivers = virt.Drivers(
            {'scripted': self.driver, 'ruled': self.ruled}
            if self.ruled is not None
            else {'': self.driver}
        )
        self.agent = agents.AgentFactory(self.wire)(
            drivers,
            state=state_copy.opened(kept),
            files=self._files,
            clock=self.clock,
            control=resource_tracker.Control(
                limits=lambda: self.limit,
                contention=contention.Contention(self.clock),
                back_off=backoff.Backoff(
                    self.clock, spread=lambda _low, high: high
                ),
            ),
            **options,
        )

    def close(self) -> None:
        """End the agent's life."""
        if self.agent is not None:
            self.agent.state.close()
            self.agent = None

    def record(self) -> bytes:
        """Return a copy of the record as it is."""
        return state_copy.copied(self.agent.state)

    def plan(self):
        """Look only; return the results, or why there are none."""
        self.judge.begin('plan writes nothing')
        self.wire.begin(None)
        return self._do(self.agent.plan)

    def sync(self, fault=None):
        """Do a cycle; return the results, None if it was killed or failed."""
        self.judge.begin(None)
        self.wire.begin(fault)
        try:
            results = self._do(self.agent.sync)
        except wiring.Killed:
            self.start(self._left)
            results = None
        self._remember(results)
        return results

    def leave(self):
        """Take off its nodes all that the agent added; it begins anew."""
        self.judge.begin(None)
        self.judge.leaves = True
        self.wire.begin(None)
        nodes = [
            Node(uuid=uuid, name=name) for uuid, name in self.nodes.items()
        ]
        results = self._do(
            lambda: self.agent.tracker.leave(nodes, writing=True)
        )
        self.judge.leaves = False
        done = [r.node.uuid for r in results or () if not r.reason]
        self.agent.state.nodes.forget(done)
        self.judge.forget()
        self.start(self.record())

    def _do(self, work):
        try:
            results = work()
        except errors.AgentError:
            return None
        except judging.Broken as exc:
            # Hypothesis shrinks and prints what an Exception ends, no more.
            raise AssertionError(str(exc)) from exc
        for result in results:
            assert not result.reason.startswith('unexpected'), result
        return results

    def _die(self) -> None:
        self._left = self.record()
        self.judge.died()

    def _remember(self, results) -> None:
        """Note what the driver holds for sure after this cycle."""
        done = {
            result.node.uuid
            for result in results or ()
            if result.status is Status.DONE
        }
        certain = self.judge.certain
        for node in self.nodes:
            told = self.driver.told.get(node)
            if told is None:
                continue
            self._remember_places(told.places, done=node in done)
        self._remember_rules(done)
        self.judge.remember_lone()
        gone = {key for key in certain if not self._speaks_of(key[0])}
        for key in gone:
            del certain[key]

    def _remember_places(self, places, *, done) -> None:
        certain = self.judge.certain
        for uuid, place in places.items():
            for kind, said in place.said.items():
                held = certain.get((uuid, kind), set())
                certain[uuid, kind] = _held(said, held, done=done)

    def _remember_rules(self, nodes_done) -> None:
        given, done = self.judge.rules_told(world.N4), world.N4 in nodes_done
        if given is not None:
            before = self.judge.certain_by_rules
            said = world.Said('declare', world.listed(given.traits))
            self.judge.certain_by_rules = _held(said, before, done=done)
            self._remember_places(given.places, done=done)

    def _speaks_of(self, uuid) -> bool:
        if uuid in world.CARDS:
            given = self.judge.rules_told(world.N4)
            return given is None or uuid in {*given.places, *given.stays}
        node = world.home(uuid)
        wanted = self.driver.wanted[node]
        return node in self.driver.present and uuid in wanted.places


def _held(said, before, *, done) -> set[str]:
    """Return what the driver holds for sure after it said something."""
    if said.speaks:
        return said.asserted if done else said.asserted & before
    added = said.asserted if done else set()
    return (before | added) - said.taken
