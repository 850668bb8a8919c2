# SPDX-License-Identifier: Apache-2.0
"""The daemon's answers to the commands of the control socket.

They come from what the cycles left in memory, so they need no answer of
placement or of a driver, and no cycle has to end first. Only the result of a
requested cycle is waited for. ``server.py`` sends them.
"""

import asyncio
import concurrent.futures
import functools
import logging
import threading
import typing
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from ... import errors
from ...cycle.node.node_result import NodeResult
from ...ownership.policy import Prune
from ...state.approvals import Approvals
from ...state.values import node_record
from ...tree import node
from ..plan import pruning, result_view, waiting
from ..plan.waiting import Waiting
from . import between_cycles, cycle_requests, daemon_data, protocol
from .node_states import NodeStates
from .protocol import Answer, Command, Kind, Request

if typing.TYPE_CHECKING:  # it needs the extra "fleet"
    from ...fleet.membership import Membership

LOG = logging.getLogger(__name__)

_OF_RECORDS = {Command.EXPORT, Command.FORGET, Command.IMPORT}
TELLING = 0.5  # seconds between two answers about the progress
GRANTING = 15.0  # seconds for which an approval waits; SQLite gives up earlier


class Asker(typing.Protocol):
    """The process of a person who asks."""

    def user(self) -> str:
        """Return the name of its user."""


class Answers:
    """Answers the requests of persons.

    :param breaker: returns why the circuit breaker is open, or empty
    :param agent: returns the name of the agent's share, and its id
    :param records: the records of nodes, which people move
    :param membership: this agent's membership in its share, if it has a share
    """

    def __init__(
        self,
        daemon: daemon_data.Daemon,
        states: NodeStates,
        cycles: cycle_requests.CycleRequests,
        approvals: Approvals,
        breaker: Callable[[], str],
        agent: Callable[[], Mapping[str, str]],
        records: between_cycles.Records,
        membership: 'Membership | None' = None,
    ) -> None:
        self._agent = agent
        self._records = records
        self._daemon = daemon
        self._states = states
        self._cycles = cycles
        self._approvals = approvals
        self._breaker = breaker
        self._membership = membership

    async def to(self, request: Request, peer: Asker) -> AsyncIterator[Answer]:
        """Yield the answers to a request.

        :raises errors.AgentError: the daemon did not carry the request out
        """
        if request.command is Command.STATUS:
            data = daemon_data.of(
                self._daemon, self._states, self._breaker, request.nodes
            )
            member = self._membership
            data['membership'] = None if member is None else member.data()
            yield Answer(kind=Kind.STATUS, data={**self._agent(), **data})
            return
        if request.command is Command.RELEASE:
            yield await self._released(_who(request, peer))
            return
        self._refuse_standby()
        if request.command in _OF_RECORDS:
            yield await self._recorded(request, _who(request, peer))
        elif request.command is Command.HELD:
            yield Answer(kind=Kind.HELD, data=self._held(request))
        else:
            choose = functools.partial(_named, request.nodes)
            if request.command is Command.APPROVE:
                if request.prune or not self._knows(request):
                    ending, answer = self._begun(request, peer)
                    yield answer
                    async for answer in self._until(ending, request):
                        yield answer
                approved = await self._approve(request, _who(request, peer))
                choose = functools.partial(_approved, approved)
                yield Answer(kind=Kind.APPROVED, data=waiting.data(approved))
            ending, answer = self._begun(request, peer)
            yield answer
            async for answer in self._until(ending, request):
                yield answer
            yield _cycle(ending.result(), choose, _prune(request))

    def _begun(
        self, request: Request, peer: Asker
    ) -> tuple[asyncio.Future[cycle_requests.Ended], Answer]:
        """Have a cycle begin; return its end, and the answer that it began."""
        LOG.info('%s asks for a cycle', _who(request, peer))
        ending = asyncio.wrap_future(self._cycles.request(_prune(request)))
        since = daemon_data.date(self._daemon.running_since)
        return ending, Answer(
            kind=Kind.REQUESTED, data={'running_since': since}
        )

    async def _until(
        self, ending: asyncio.Future[cycle_requests.Ended], request: Request
    ) -> AsyncIterator[Answer]:
        """Wait for the end of a cycle; yield its progress, if it is wanted.

        A cycle that runs already has to end before, so it is told, too.
        """
        pause = TELLING if request.progress else None
        try:
            while not (await asyncio.wait({ending}, timeout=pause))[0]:
                found = daemon_data.progress(self._daemon)
                since = daemon_data.date(self._daemon.running_since)
                if found is not None and since is not None:
                    yield Answer(
                        kind=Kind.PROGRESS, data={'since': since, **found}
                    )
        finally:
            ending.cancel()  # if the person left

    def _knows(self, request: Request) -> bool:
        """Return True if the last cycle left the nodes and the changes.

        A person may have them from a plan, which is ahead of this daemon.
        """
        try:
            self._chosen(request)
        except errors.AgentError:
            return False
        return True

    def _chosen(self, request: Request) -> list[Waiting]:
        """Return the changes that wait and have the digests, or all.

        :raises errors.AgentError: other changes wait now
        """
        every = daemon_data.waiting_changes(self._states, request.nodes)
        if not request.digests:
            return every
        return waiting.chosen(every, request.digests, request.nodes)

    def _refuse_standby(self) -> None:
        """Refuse what only the agent that reports can do.

        :raises errors.Refused: this agent stands by
        """
        member = self._membership
        if member is not None and member.epoch is None:
            raise errors.Refused(member.refusal())

    async def _released(self, who: str) -> Answer:
        """Give the lease up after the node in hand; return the answer.

        :raises errors.Refused: this agent does not hold it, or nobody follows
        """
        member = self._membership
        if member is None:
            raise errors.Refused(
                'this agent shares its nodes with no other: [compute_agent] '
                'state_connection is not set'
            )
        LOG.info('%s asks to release the share %s', who, member.share)
        line = await asyncio.wrap_future(member.release(f'{who} released it'))
        return Answer(kind=Kind.RELEASED, data={'text': line})

    async def _recorded(self, request: Request, who: str) -> Answer:
        """Have records of nodes read, added or dropped before the next cycle.

        :raises errors.AgentError: a record cannot be read, added or dropped
        """

        def work() -> list[node_record.NodeRecord]:
            if request.command is Command.EXPORT:
                return self._records.export(request.nodes)
            if request.command is Command.IMPORT:
                given = between_cycles.read(request.records)
                self._records.add(given, f'state import by {who}')
            else:
                by = f'state export --forget by {who}'
                self._records.forget(request.nodes, request.digests, by)
            return []

        LOG.info('%s asks to %s records', who, request.command.value)
        found = await asyncio.wrap_future(self._cycles.do(work))
        data = [*map(node_record.data, found)]
        return Answer(kind=Kind.RECORDED, data={'records': data})

    def _held(self, request: Request) -> daemon_data.Data:
        return daemon_data.held_data(self._states, request.nodes)

    async def _approve(self, request: Request, who: str) -> list[Waiting]:
        """Approve exactly the changes with these digests; return them.

        Without a digest, all changes that wait now are approved.

        :raises errors.AgentError: other changes wait now
        """
        approved = self._chosen(request)
        if approved:
            subjects = waiting.subjects(approved)
            await _granted(
                functools.partial(self._approvals.grant, subjects, who)
            )
            LOG.info(
                '%s approved %d changes of %d nodes (digest %s)',
                who,
                len(approved),
                len({each.node for each in approved}),
                waiting.digest(approved),
            )
        return approved


async def _granted(grant: Callable[[], None]) -> None:
    """Grant in a thread, so that others are answered meanwhile.

    No end of the daemon waits for the thread, as it would for one of asyncio.

    :raises errors.Unavailable: the database does not answer
    """
    done = concurrent.futures.Future[None]()
    done.set_running_or_notify_cancel()  # a thread cannot be cancelled

    def work() -> None:
        try:
            grant()
        except Exception as exc:  # noqa: BLE001 (raised by who waits)
            done.set_exception(exc)
        else:
            done.set_result(None)

    threading.Thread(target=work, name='approval', daemon=True).start()
    try:
        async with asyncio.timeout(GRANTING):
            await asyncio.wrap_future(done)
    except TimeoutError as exc:
        raise errors.Unavailable(
            'it is unknown whether the changes are approved: the state '
            f'database has not answered for {GRANTING:g} s; see what the '
            'daemon does with "compute-agent status", then run '
            '"compute-agent approve" again'
        ) from exc


def _prune(request: Request) -> Prune:
    """Return the names that a request has pruned.

    :raises errors.ConfigError: a word is not a name that can be pruned
    """
    return Prune.parse(request.prune, request.prune_node or None)


def _who(request: Request, peer: Asker) -> str:
    """Return the person; the kernel tells the user, ``sudo`` the person."""
    user = peer.user()
    if not request.person or request.person == user:
        return user
    return f'{request.person} (as {user})'


def _named(
    words: Sequence[str], results: Sequence[NodeResult]
) -> list[NodeResult]:
    """Return the results of the nodes with these names, or of all nodes.

    :raises errors.ConfigError: the cycle had no such node
    """
    chosen = node.selected([result.node for result in results], words)
    return [result for result in results if result.node in chosen]


def _approved(
    approved: Sequence[Waiting], results: Sequence[NodeResult]
) -> list[NodeResult]:
    """Return the results of the nodes whose changes were approved.

    If nothing waited, these are all results.
    """
    # A reinstalled host may have another uuid by then.
    names = {each.node.name for each in approved}
    return [r for r in results if r.node.name in names or not names]


def _cycle(
    ended: cycle_requests.Ended,
    choose: Callable[[Sequence[NodeResult]], list[NodeResult]],
    prune: Prune,
) -> Answer:
    """Return the result of a cycle, as ``sync`` prints it.

    :raises errors.ConfigError: the cycle had no node of a given name
    """
    if ended.trouble:
        return protocol.failed(ended.trouble)
    results = choose(ended.results)
    pruning.check_node(prune, lambda: [r.node for r in ended.results])
    is_done = all(r.is_settled for r in results)
    return Answer(
        kind=Kind.CYCLE,
        data={
            'results': [result_view.data(result) for result in results],
            'text': result_view.text(results),
            'unmet': pruning.unmet(prune, ended.results),
            'code': 0 if is_done else 1,
        },
    )
