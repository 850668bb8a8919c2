# SPDX-License-Identifier: Apache-2.0
"""Agents of two shares in one database, and nodes that move between the two.

A test lets an agent do a turn: it looks at its lease and, if it holds it, runs
a cycle. The lease, the record and the placement are real, and the clock is
the test's.
"""

import collections.abc
import contextlib
import dataclasses
import typing

import agents
import sqlalchemy as sa
import state_copy
from memory_leases import Uptime

from compute_agent import errors, testing
from compute_agent.cmd.plan import waiting
from compute_agent.cmd.wiring import sharing
from compute_agent.cycle.node.node_result import NodeResult
from compute_agent.fleet import lease, membership, shared_record
from compute_agent.fleet.database import schema
from compute_agent.fleet.values import mark
from compute_agent.state import documents
from compute_agent.tree import provider_tree
from compute_agent.virt import driver as virt

LEASE = 15.0
RACK1, RACK2 = 'rack1', 'rack2'
NODES = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(6)}
MOVES, *_ = NODES
OPERATORS = 'CUSTOM_OPERATOR'


@dataclasses.dataclass(slots=True)
class Cloud:
    """The nodes as an Ironic has them.

    :ivar racks: node → the racks in whose lists it is; a node that moves may be
        in two lists for a moment, or in none
    :ivar traits: node → what each driver reports of it
    """

    racks: dict[str, set[str]]
    traits: dict[str, list[str]]

    def move(self, uuid: str, *racks: str) -> None:
        """Put a node in these lists, and in no other one."""
        self.racks[uuid] = set(racks)


class Rack(agents.Driver):
    """Describes the nodes of one rack."""

    def __init__(self, cloud: Cloud, rack: str) -> None:
        super().__init__(self._describe)
        self.node_filter = {'shard': rack}
        self._cloud = cloud
        self._rack = rack

    def _listed(self) -> dict[str, str]:
        racks = self._cloud.racks
        return {u: NODES[u] for u in racks if self._rack in racks[u]}

    def get_available_nodes(self) -> collections.abc.Sequence[str]:
        return list(self._listed().values())

    def get_nodenames_by_uuid(self) -> collections.abc.Mapping[str, str]:
        return self._listed()

    def node_exists(self, nodename: str) -> virt.Existence:
        found = any(NODES[uuid] == nodename for uuid in self._cloud.racks)
        return virt.Existence.YES if found else virt.Existence.NO

    def _describe(self, tree: provider_tree.ProviderTree, name: str) -> None:
        (uuid,) = (u for u, called in NODES.items() if called == name)
        tree.update_inventory(name, {'CUSTOM_GOLD': {'total': 1}})
        tree.declare_traits(name, *self._cloud.traits.get(uuid, ()))


class Process:
    """One agent of a share, from its start to its death."""

    def __init__(
        self, site: 'Site', share: str, who: str, disk: bytes | None
    ) -> None:
        self.share = share
        self._site = site
        self.state = state_copy.opened(disk)
        engine = site.engines.get(share, site.engine)
        me = lease.Member(who=who, host=who, pid=1, lease_seconds=LEASE)
        self.membership = membership.Membership(
            lease.Leases(engine),
            me,
            share=share,
            driver='rack',
            clock=site.clock,
        )
        self.record = shared_record.SharedRecord(engine, share, who)
        self.sharing = sharing.Sharing(
            sharing.Joined(
                engine=engine,
                membership=self.membership,
                record=self.record,
                place=f'db/{share}',
                seconds=LEASE,
            ),
            self.state,
            self._take_over,
        )
        self.agent = agents.AgentFactory(site.placement)(
            Rack(site.cloud, share),
            state=self.state,
            share=share,
            takes_over=site.takes_over,
            is_confirmed=site.is_confirmed,
            clock=site.time,
            max_removed_percent=site.max_removed_percent,
            may_begin=self.membership.check,
            shares=self.record,
        )

    def _take_over(self) -> None:
        self.agent.tracker.take_over(self.state.agent_id)
        self.agent.client.invalidate()

    def turn(self) -> dict[str, NodeResult]:
        """Look at the lease; as its holder, run a cycle, and return its results."""
        self.membership.look()
        self.membership.note('')
        if not self.sharing.is_ready():
            return {}
        return {one.node.uuid: one for one in self.agent.sync()}

    def kill(self) -> bytes:
        """End it; return its disk."""
        kept = state_copy.copied(self.state)
        self.state.close()
        return kept

    @property
    def nodes(self) -> set[str]:
        """The nodes of which this agent has a right to write to the root."""
        every = [node.uuid for node in self.state.nodes.all()]
        return set(every) - self.state.records.without_rights(every)


class Site:
    """The placement and the database that two shares have in common.

    :ivar clock: the time since boot, by which leases end
    :ivar time: the time of day; a driver is asked again about a node that moved
        after an hour
    :ivar takes_over: ``adopt_existing_roots`` of all agents
    :ivar is_confirmed: True for agents that began with ``--yes``
    :ivar max_removed_percent: of all agents; None for no limit
    """

    def __init__(
        self,
        engine: sa.Engine,
        placement: testing.Placement,
        engines: collections.abc.Mapping[str, sa.Engine] | None = None,
    ) -> None:
        """Make the tables.

        :param engines: of shares that reach the database by another server
        """
        schema.prepare(engine)
        self.engines = engines or {}
        self.engine = engine
        self.placement = placement
        self.clock = Uptime()
        self.time = agents.Clock()
        self.takes_over = self.is_confirmed = False
        self.max_removed_percent: float | None = 20
        self.cloud = Cloud(
            racks={
                uuid: {RACK1 if n < 3 else RACK2}
                for n, uuid in enumerate(NODES)
            },
            traits={uuid: ['CUSTOM_OLD'] for uuid in NODES},
        )
        self._lives = 0
        self._open = contextlib.ExitStack()

    def start(self, share: str, disk: bytes | None = None) -> Process:
        """Start an agent of a share.

        :param disk: of an agent that was killed
        """
        self._lives += 1
        made = Process(self, share, f'{share}-{self._lives}', disk)
        self._open.callback(made.state.close)
        return made

    def close(self) -> None:
        """End all agents."""
        self._open.close()

    def let_leases_end(self, *standbys: Process) -> None:
        """Let time pass until a lease whose holder is dead has run out."""
        for _ in range(6):
            self.clock.now += LEASE / 5
            for one in standbys:
                with contextlib.suppress(errors.AgentError):
                    one.membership.look()

    # --- what placement and the database have ----------------------------------

    def marks(self, uuid: str = MOVES) -> list[str]:
        """Return the names of the shares whose marks a root has."""
        traits = self.placement.others.traits(uuid)
        return [one.share.lower() for one in mark.marks(traits)]

    def traits(self, uuid: str = MOVES) -> set[str]:
        """Return the traits of a root, without marks and the agents' own."""
        found = self.placement.others.traits(uuid)
        return {
            t for t in found if t in {'CUSTOM_OLD', 'CUSTOM_NEW', OPERATORS}
        }

    def roots(self) -> set[str]:
        """Return the roots in placement."""
        listed = self.placement.get('/resource_providers')
        return {one['uuid'] for one in listed['resource_providers']}

    def between(self) -> set[str]:
        """Return the nodes whose records no share has."""
        record = shared_record.SharedRecord(self.engine, 'nobody')
        return set(record.given())

    def rights(self, uuid: str = MOVES) -> set[str]:
        """Return the shares that may write to a node; '' for none of them."""
        record = shared_record.SharedRecord(self.engine, 'nobody')
        found = record.elsewhere([uuid]).get(uuid, {})
        held = {
            share
            for share, text in found.items()
            if documents.standing(uuid, text).has_rights
        }
        return held | {'' for _ in record.given([uuid])}

    def writes(self, one: Process) -> list[typing.Any]:
        """Return the writes of a turn of this agent."""
        before = len(self.placement.writes)
        one.turn()
        return self.placement.writes[before:]


def waits(one: Process) -> collections.abc.Sequence[waiting.Waiting]:
    """Return what waits for a person beside an agent."""
    return waiting.of(one.agent.plan())


def allow(one: Process) -> None:
    """Have a person allow whatever waits beside an agent."""
    subjects = waiting.subjects(waits(one))
    one.state.approvals.grant(subjects, 'a person')
