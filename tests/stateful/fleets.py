# SPDX-License-Identifier: Apache-2.0
"""Fleets: agents of two shares on one placement, which stop at any step.

Three agents report one share, two another one. They have the real lease, fence
and record of a fleet, on SQLite in memory (``fleet_database.py``), and a clock
that the test moves. Each turn of an agent may stop at some of its events:
before or after a transaction in the shared database, before its fence is asked,
before or after a write to placement. Then the agent dies, or sleeps while the
others go on, or an answer is lost, or the database is away, or has lost its last
commits, or somebody else writes. A request that a dead agent had sent may arrive
much later.

``Fleets`` does the steps, and judges each lease and each write to placement.
"""

import collections.abc
import contextlib
import dataclasses
import typing
from unittest import mock

import fleet_database
import shortcut
import state_copy
from agents import NAME, NODE, AgentFactory, Clock
from crash_scenarios import (
    NUMA0,
    SECOND,
    SECOND_NAME,
    Host,
    Wishes,
    numa,
    root,
)
from crashing import Killed
from placement_double import service

from compute_agent import errors
from compute_agent.cmd.wiring import sharing
from compute_agent.fleet import fence, lease, membership, shared_record
from compute_agent.limits import approval
from compute_agent.state import documents
from compute_agent.testing.fixtures import in_process

SHARES = {'one': {NODE: NAME}, 'two': {SECOND: SECOND_NAME}}
MEMBERS = {'a': 'one', 'b': 'one', 'c': 'one', 'd': 'two', 'e': 'two'}
LEASE = 15.0
#: The seconds for which a beat of an agent counts, where they differ.
SHORTER = {'b': 8.0, 'e': 8.0}
OURS = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
FOREIGN = 'CUSTOM_OF_A_PERSON'
#: Before a transaction, before and after its commit; before the fence is
#: asked; before a write to placement that has a generation, before another
#: one, after an answer.
EVENTS = (
    *('ask', 'commit', 'committed'),
    *('fence', 'content', 'request', 'answer'),
)
_STEP = 3.5  # seconds from one look at the lease to the next
_PROVIDERS = '/resource_providers/'


@dataclasses.dataclass(frozen=True)
class Stop:
    """What happens at an event of a turn.

    :ivar at: the number of the event, from 0, among those of its kind
    :ivar what: see ``EVENTS``
    :ivar how: see ``Fleets.HOW``
    :ivar seconds: for which the agent sleeps
    """

    at: int
    what: str
    how: str
    seconds: float = 2 * LEASE


class Member:
    """One agent of a share: its disk, and the process while it runs.

    :ivar era: how often the database had lost commits when it took the lease
    """

    def __init__(self, name: str, fleets: 'Fleets') -> None:
        self.name = name
        self.share = MEMBERS[name]
        self.seconds = SHORTER.get(name, LEASE)
        self._fleets = fleets
        self._disk: bytes | None = None
        self._lives = 0
        self._stops: list[Stop] = []
        self._seen: collections.Counter[str] = collections.Counter()
        self._allowed = 0.0
        self._granted: set[str] = set()
        self.url = in_process.URL
        self.session = in_process.session(self._unused)
        self.start()

    # --- the process ----------------------------------------------------------

    def start(self) -> None:
        """Start the process with what is on its disk."""
        self._is_dead = False
        self._granted.clear()
        self._lives += 1
        self.era = self._fleets.era
        who = f'{self.name}{self._lives}'
        engine: typing.Any = fleet_database.Wire(self._fleets.database, self)
        self.leases = lease.Leases(engine)
        me = lease.Member(
            who=who, host=self.name, pid=1, lease_seconds=self.seconds
        )
        self.membership = membership.Membership(
            self.leases,
            me,
            share=self.share,
            driver='fake',
            clock=fence.uptime,
        )
        self.state = state_copy.opened(self._disk)
        self.sharing = sharing.Sharing(
            sharing.Joined(
                engine=engine,
                membership=self.membership,
                record=shared_record.SharedRecord(engine, self.share, who),
                place=f'db/{self.share}',
                seconds=self.seconds,
            ),
            self.state,
            bool,
        )
        driver = Host(self._fleets.wanted, nodes=SHARES[self.share])
        self.agent = AgentFactory(self)(
            driver,
            state=self.state,
            max_removed_percent=None,
            clock=self._fleets.clock,
            may_begin=self.membership.check,
        )

    def die(self, *, keeps_disk: bool = True) -> None:
        """End the process at once."""
        self._disk = state_copy.copied(self.state) if keeps_disk else None
        self.state.close()
        self.start()

    def look(self) -> None:
        """Look at the lease, as the thread of the beat does."""
        before, era = self.membership.epoch, self._fleets.era
        with contextlib.suppress(errors.AgentError):
            self.membership.look()
            # No beat counts any more that the database had lost before.
            self.era = era
        if self.membership.epoch not in {None, before}:
            self._fleets.newest[self.share] = self.term

    def turn(self, *stops: Stop) -> None:
        """Look at the lease; report as its holder, or follow the record."""
        with self._fleets.turn_of(self):
            self._stops = list(stops)
            self._seen.clear()
            try:
                self.look()
                with contextlib.suppress(errors.AgentError):
                    self._report()
            except Killed:
                pass
            finally:
                self._stops = []
                if self._is_dead:  # what it still did may hide its death
                    self.die()

    def _report(self) -> None:
        if self.membership.draining:
            self.membership.leave()
        if not self.sharing.is_ready():
            return
        record, epoch = self.sharing.record, self.membership.epoch
        for asked in record.take_asked(epoch):
            if asked.epoch == epoch and asked.key not in self._granted:
                self._granted.add(asked.key)
                self._fleets.grant(self, asked.key)
            record.answer(epoch, asked.key, 'done')
        self.agent.sync()
        self.sharing.pay()

    @property
    def is_sure(self) -> bool:
        """True if its fence is open, by its own clock."""
        held = self.membership._held
        return held is not None and held.fence.remaining() > 0

    @property
    def term(self) -> tuple[int, int]:
        """The number of its lease; a later one is higher."""
        return self.era, self.membership.epoch or 0

    # --- what happens in a turn -----------------------------------------------

    def event(self, what: str, request: typing.Any = None) -> None:
        """Let a stop of this turn happen, if it is at this event."""
        if self._is_dead:
            raise Killed('the process is dead')
        self._seen[what] += 1
        for stop in self._stops:
            if stop.what == what and stop.at < self._seen[what]:
                self._stops.remove(stop)
                self._fleets.happen(self, stop, request)
                return

    def kill(self) -> typing.NoReturn:
        """Let nothing of this process be done any more."""
        self._is_dead = True
        raise Killed('the process is dead')

    def fence(self) -> float:
        """Return for how long this agent may write; see ``Placement``."""
        self.event('fence')
        self._allowed = self.membership.may_write()
        self._until = self._fleets.clock.now + self._allowed
        return self._allowed

    # --- its way to placement, see ``shortcut.py`` -----------------------------

    def via(self, adapter):
        """Return what this agent sends its requests through."""
        return shortcut.Shortcut(self, adapter)

    def meets(self, request) -> bool:
        """Let something happen before a write.

        A request without a generation is given up at its deadline.
        """
        if request.method == 'GET':
            if self._is_dead:
                self.kill()
            return False
        is_content = is_guarded(request)
        began = self._fleets.clock.now
        self.event('content' if is_content else 'request', request)
        slept = self._fleets.clock.now - began
        if not is_content and slept > self._allowed:
            raise errors.Unavailable('placement did not answer in time')
        return False

    def quick(self, request):
        """Return status and body of an answer."""
        status, body = self._fleets.send(self, request)
        if request.method != 'GET':
            self.event('answer')
        return status, body

    def _unused(self, _sent):
        raise AssertionError('all requests take the shortcut')


def is_guarded(request) -> bool:
    """Return True if a write has a generation."""
    return 'resource_provider_generation' in (request.body or {})


@dataclasses.dataclass
class _Late:
    """A request of a dead agent that is still under way."""

    term: tuple[int, int]
    request: typing.Any


class Fleets:
    """All agents, their database, and other writers on one placement.

    :ivar foreign: (node, name) of the names that a person, or nova, added
    :ivar newest: share → the term of its last take-over
    :ivar lost: the shares whose record lost commits
    :ivar era: how often the database lost commits
    :ivar wrong: what no agent may do
    """

    #: What may happen at an event; a transaction and a request differ in some.
    HOW = ('die', 'revert', 'sleep', 'lose', 'away', 'fail over', 'other')

    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()
        self.placement = service.Double()
        self.clock = Clock()
        uptime = mock.Mock(clock_gettime=lambda _: self.clock.now)
        uptime.CLOCK_BOOTTIME = 0
        self._undo.enter_context(mock.patch.object(fence, 'time', uptime))
        self.database = fleet_database.FleetDatabase()
        self.wanted = Wishes({NODE: (root(),), SECOND: (root(SECOND),)})
        self._turns: list[Member] = []
        self._late: list[_Late] = []
        self.newest = dict.fromkeys(SHARES, (0, 0))
        self._wrote: dict[str, tuple[int, int]] = {}  # provider → last term
        self._written: set[str] = set()
        self._granted: set[str] = set()
        self.wrong: list[str] = []
        self._before = dict(self.wanted)
        self.foreign: set[tuple[str, str]] = set()
        self.lost: set[str] = set()
        self.era = 0
        self.members = {name: Member(name, self) for name in MEMBERS}
        for name in ('a', 'd'):
            self.members[name].turn()
        self.remember()

    def close(self) -> None:
        """End all agents."""
        for member in self.members.values():
            member.state.close()
        self._undo.close()

    @contextlib.contextmanager
    def turn_of(self, member: Member) -> collections.abc.Iterator[None]:
        """Let a member act, maybe while another one sleeps."""
        self._turns.append(member)
        self.clock.now += 0.1
        try:
            yield
        finally:
            self._turns.pop()
            self._judge_leases(member.share)

    # --- steps ----------------------------------------------------------------

    def of(self, share: str) -> list[Member]:
        """Return the members of a share."""
        return [m for m in self.members.values() if m.share == share]

    def holder(self, share: str) -> Member | None:
        """Return the member that has the lease of the database, if it lives."""
        row = self.database.lease(share)
        for member in self.of(share) if row else ():
            epoch, who, _ = row
            mine = member.membership.epoch, member.membership._me.who
            if mine == (epoch, who):
                return member
        return None

    def turn(self, name: str, *stops: Stop) -> None:
        """Have the holder of a member's share do a turn, then the member.

        If there is no holder any more, the others wait for the lease.
        """
        member = self.members[name]
        holder = self.holder(member.share)
        if holder is None:
            holder = self._next_holder(member.share) or member
        holder.turn(*stops)
        if holder is not member:
            member.turn()
        self._mend(member.share)

    def follow(self, name: str, *stops: Stop) -> None:
        """Have a member do a turn, which may stop."""
        self.members[name].turn(*stops)
        self._mend(self.members[name].share)

    def restart(self, name: str, keeps_disk: bool) -> None:  # noqa: FBT001
        """Have a member die between two turns."""
        self.members[name].die(keeps_disk=keeps_disk)

    def release(self, name: str) -> None:
        """Have the holder of a share give it up, as a person asks for."""
        holder = self.holder(MEMBERS[name])
        if holder is not None and holder is not self.members[name]:
            holder.membership.drain('a person asks for it')
            holder.turn()
            self.members[name].turn()

    def away(self, name: str, seconds: float) -> None:
        """Let the database be away for all; a holder that lives stays it."""
        share = MEMBERS[name]
        self.wait(share, _STEP)
        holder = self.holder(share)
        before = holder and holder.membership.epoch
        self.database.is_away = True
        self.wait(share, seconds)
        self.members[name].turn()
        self.database.is_away = False
        for member in sorted(self.of(share), key=lambda m: m is holder):
            member.look()  # it looks last, and has to be in time
        self.wait(share, LEASE)
        if before and self.holder(share) is not holder:
            self.wrong.append(f'{name}: an outage for all moved the lease')

    def take_over(self, name: str, *stops: Stop) -> None:
        """Have the holder sleep until a member has the share; both go on.

        :param stops: for the first turn of the member
        """
        member = self.members[name]
        holder = self.holder(member.share)
        if holder is member:
            return
        asleep = [m for m in self.of(member.share) if m is not member]
        with contextlib.ExitStack() as ended:
            for one in asleep:
                ended.enter_context(self.turn_of(one))
            for _ in range(20):
                self.clock.now += _STEP
                if member.membership.epoch is not None:
                    break
                member.look()
            member.turn(*stops)
        if holder is not None:
            holder.turn()
        self._mend(member.share)

    def describe(
        self,
        node: str,
        traits: collections.abc.Collection[str],
        child: bool,  # noqa: FBT001
    ) -> None:
        """Change what the drivers say of a node."""
        wishes = [root(node, traits=tuple(sorted(traits)))]
        if child and node == NODE:
            wishes.append(numa(NUMA0, traits=tuple(sorted(traits))))
        self._before[node] = self.wanted[node]
        self.wanted[node] = tuple(wishes)

    def change(
        self,
        node: str,
        traits: collections.abc.Collection[str],
        child: bool,  # noqa: FBT001
        *stops: Stop,
    ) -> None:
        """Change what the driver says of a node, and stop its holder's turn."""
        self.describe(node, traits, child)
        share = next(s for s, nodes in SHARES.items() if node in nodes)
        self.turn(self.of(share)[0].name, *stops)

    def other_writes(
        self,
        node: str,
        name: str,
        there: bool,  # noqa: FBT001
    ) -> None:
        """Let a person, or nova, add a name or remove one that is foreign."""
        held = self.placement.contents().get(node)
        if held is None or (name in held.traits) is there:
            return
        if self._is_in_doubt(node, name):
            return  # nobody could tell whose the names are
        if not there and (node, name) not in self.foreign:
            return
        traits = {*held.traits} ^ {name}
        self.placement.call('PUT', f'/traits/{name}')
        self.placement.call(
            'PUT',
            f'{_PROVIDERS}{node}/traits',
            {
                'resource_provider_generation': held.generation,
                'traits': sorted(traits),
            },
        )
        (self.foreign.add if there else self.foreign.discard)((node, name))

    def _is_in_doubt(self, node: str, name: str) -> bool:
        """Return True if an agent has not recorded what it wrote to a node.

        It knows a set of names again if nobody has written since.
        """
        share = next(s for s, nodes in SHARES.items() if node in nodes)
        if '"intent"' not in self.database.documents(share).get(node, ''):
            self._written.discard(node)
            return False
        return name in OURS or node in self._written

    def approve(self, share: str) -> None:
        """Have a person approve something; the holder takes it once."""
        record = shared_record.SharedRecord(self.database.engine, share)
        key = str(self.clock.now)
        record.ask(
            shared_record.Asked(
                key=key, content='{}', who='ann', at=self.clock.now
            )
        )

    def grant(self, member: Member, key: str) -> None:
        """Grant what was asked; a holder does it once, and no other one again."""
        if key in self._granted and member.share not in self.lost:
            self.wrong.append(f'{member.name} grants again what {key} asked')
        self._granted.add(key)
        subject = approval.subject(approval.Kind.FIRST_WRITE, (key,))
        member.state.approvals.grant([subject], 'ann')

    def remember(self) -> None:
        """Let the replica of the database catch up."""
        self.database.remember()

    def arrive(self) -> None:
        """Let the requests of dead agents arrive."""
        late, self._late = self._late, []
        for one in late:
            self._carry_out(one.term, one.request)

    def wait(self, share: str, seconds: float) -> None:
        """Let time pass; the agents that do not act look at the lease.

        One that takes it reports at once.
        """
        while seconds > 0:
            step = seconds % _STEP or _STEP
            seconds -= step
            self.clock.now += step
            for member in self.of(share):
                if member in self._turns:
                    continue
                before = member.membership.epoch
                member.look()
                self._judge_leases(share)
                if member.membership.epoch not in {None, before}:
                    member.turn()

    def _next_holder(self, share: str) -> Member | None:
        """Let time pass until a member that lives has the lease, and is sure."""
        for _ in range(10):
            holder = self.holder(share)
            if holder is not None and holder.is_sure:
                return holder
            self.wait(share, _STEP)
        return None

    def end(self) -> None:
        """Let all be well again, and check what is left in placement."""
        for share in SHARES:
            holder = self._next_holder(share)
            assert holder, f'nobody reports the share {share}'
            for _ in range(2):
                holder.turn()
            self.arrive()
            for _ in range(2):
                holder.turn()
        self.check()
        self._check_contents()
        self._check_records()

    # --- what happens ---------------------------------------------------------

    def happen(self, member: Member, stop: Stop, request: typing.Any) -> None:
        """Let a stop happen; in a transaction only its own process acts."""
        is_transaction = stop.what in {'ask', 'commit', 'committed'}
        match stop.how:
            case 'die' | 'revert':
                if stop.how == 'revert':  # nobody sends that again
                    self.wanted.update(self._before)
                self._die(member, request)
            case 'away' | 'lose':
                self.database.is_away |= stop.how == 'away'
                if is_transaction:
                    raise fleet_database.lost()
                if stop.how == 'lose':
                    raise errors.Unavailable('the answer is lost')
            case _ if stop.what != 'commit':
                self._go_on(member, stop)

    def _go_on(self, member: Member, stop: Stop) -> None:
        """Let others act while a member does nothing."""
        match stop.how:
            case 'sleep':
                self.wait(member.share, stop.seconds)
            case 'fail over':
                self.fail_over()
            case 'other':
                for node in SHARES[member.share]:
                    self.other_writes(node, FOREIGN, True)

    def _die(self, member: Member, request: typing.Any) -> typing.NoReturn:
        """Let a member die; a request that has a generation may come later."""
        if request is not None and is_guarded(request):
            self._late.append(_Late(member.term, request))
        member.kill()

    def _mend(self, share: str) -> None:
        """Let the database answer again, if it is away."""
        if self.database.is_away:
            self.database.is_away = False
            self.wait(share, _STEP)

    def fail_over(self) -> None:
        """Lose what the replica of the database does not have.

        The take-overs that are lost do not count.
        """
        before = {share: self.database.lease(share) for share in SHARES}
        self.database.fail_over()
        lost = {s for s in SHARES if self.database.lease(s) != before[s]}
        if not lost:
            return
        self.lost |= lost
        self.era += 1
        self._wrote.clear()
        self.newest = dict.fromkeys(SHARES, (0, 0))

    def send(self, member: Member, request) -> tuple[int, typing.Any]:
        """Return placement's answer to an agent's request."""
        is_write = request.method != 'GET'
        newest = self.newest[member.share]
        if is_write and not is_guarded(request) and member.term < newest:
            self.wrong.append(
                f'{request} of lease {member.term}, and {newest} was taken'
            )
        return self._carry_out(member.term, request)

    def _carry_out(self, term, request) -> tuple[int, typing.Any]:
        before = self._traits()
        got = self.placement.answer(
            request.method, request.path, request.body, request.microversion
        )
        if request.method != 'GET' and got.status < 300:
            self._judge(term, request, before)
        return got.status, got.body

    # --- the judge ------------------------------------------------------------

    def _judge_leases(self, share: str) -> None:
        """Judge that no two agents are sure of one lease."""
        sure = [
            m.name for m in self.of(share) if m.is_sure and m.era == self.era
        ]
        if len(sure) > 1:
            self.wrong.append(f'{sure} are sure of {share} at the same time')

    def _judge(self, term, request, before) -> None:
        """Judge a write that placement carried out.

        What is wrong is told after the step: the agent would take an error of
        its request for an outage.
        """
        gone = before - self._traits()
        if found := sorted(gone & self.foreign):
            self.wrong.append(f'{request} removed {found} of a person')
        uuid = request.path.removeprefix(_PROVIDERS).split('/')[0]
        if request.method == 'POST':
            uuid = request.body['uuid']
        elif not request.path.startswith(_PROVIDERS):
            return
        last = self._wrote.get(uuid, (0, 0))
        if term < last:
            self.wrong.append(
                f'{request} of lease {term}, after {last} wrote there'
            )
        self._wrote[uuid] = max(last, term)
        self._written.add(uuid)

    def _traits(self) -> set[tuple[str, str]]:
        return {
            (uuid, name)
            for uuid, held in self.placement.contents().items()
            for name in held.traits
        }

    def check(self) -> None:
        """Check that no agent did what it may not do."""
        assert not self.wrong, self.wrong

    def _check_contents(self) -> None:
        """Check that placement has the descriptions and others' names."""
        wanted = {
            wish.uuid: set(wish.traits)
            for wishes in self.wanted.values()
            for wish in wishes
        }
        found = self.placement.contents()
        kept = {uuid for uuid, _ in self.foreign}
        assert found.keys() >= wanted.keys()
        if not self.lost:
            assert found.keys() <= wanted.keys() | kept, found.keys()
        for uuid, traits in wanted.items():
            there = {t for t in found[uuid].traits if t.startswith('CUSTOM_')}
            foreign = {name for u, name in self.foreign if u == uuid}
            assert there >= traits | foreign, (uuid, there, traits, foreign)
            if not self.lost:
                assert there == traits | foreign, (uuid, there, traits)

    def _check_records(self) -> None:
        """Check that every member of a share has the same record."""
        for member in self.members.values():
            member.turn()  # who was deposed finds out
            member.turn()
            with member.state._database.reading() as db:
                mine = documents.read(db)
                told = documents.told(db, every=True)
            is_holder = member is self.holder(member.share)
            if is_holder or member.share not in self.lost:
                # Who slept through a fail-over compares all at its take-over.
                theirs = self.database.documents(member.share)
                assert mine == theirs, member.name
            assert not self.database.unanswered(member.share)
            if member.share not in self.lost:
                # Who was deposed keeps some of its entries to itself.
                history = self.database.history(member.share)
                assert history
                assert {*history} <= {*told}, member.name
