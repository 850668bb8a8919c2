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
from collections.abc import AsyncIterator, Callable, Sequence

from ... import errors
from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult
from ...state.approvals import Approvals
from ...tree import node
from ..plan import result_view
from . import cycle_requests, daemon_data, held, protocol
from .node_states import NodeStates
from .protocol import Answer, Command, Kind, Request
from .server import Peer

LOG = logging.getLogger(__name__)

GRANTING = 15.0  # seconds for which an approval waits; SQLite gives up earlier


class Answers:
    """Answers the requests of persons.

    :param breaker: returns why the circuit breaker is open, or empty
    """

    def __init__(
        self,
        daemon: daemon_data.Daemon,
        states: NodeStates,
        cycles: cycle_requests.CycleRequests,
        approvals: Approvals,
        breaker: Callable[[], str],
    ) -> None:
        self._daemon = daemon
        self._states = states
        self._cycles = cycles
        self._approvals = approvals
        self._breaker = breaker

    async def to(self, request: Request, peer: Peer) -> AsyncIterator[Answer]:
        """Yield the answers to a request.

        :raises errors.AgentError: it is not carried out
        """
        if request.command is Command.STATUS:
            data = daemon_data.of(
                self._daemon, self._states, self._breaker, request.nodes
            )
            yield Answer(kind=Kind.STATUS, data=data)
        elif request.command is Command.HELD:
            yield Answer(kind=Kind.HELD, data=self._held(request))
        else:
            choose = functools.partial(_named, request.nodes)
            if request.command is Command.APPROVE:
                approved = await self._approve(request, _who(request, peer))
                choose = functools.partial(_approved, approved)
                changes = sum(len(each.lines) for each in approved)
                yield Answer(kind=Kind.APPROVED, data={'changes': changes})
            LOG.info('%s asks for a cycle', _who(request, peer))
            ending = asyncio.wrap_future(self._cycles.request())
            since = daemon_data.date(self._daemon.running_since)
            yield Answer(kind=Kind.REQUESTED, data={'running_since': since})
            yield _cycle(await ending, choose)

    def _held(self, request: Request) -> daemon_data.Data:
        waiting = held.of(self._states.nodes.values(), request.nodes)
        if not waiting:
            return {'digest': '', 'changes': 0, 'nodes': []}
        return daemon_data.held_data(waiting, self._states)

    async def _approve(
        self, request: Request, who: str
    ) -> list[held.HeldNode]:
        """Approve exactly the changes with this digest; return them.

        :raises errors.AgentError: other changes wait now, or none
        """
        waiting = held.of(self._states.nodes.values(), request.nodes)
        approved = held.matching(waiting, request.digest)
        if not approved:
            raise errors.Refused(
                'nothing was approved: the changes that wait now have another '
                f'digest than {request.digest}; "compute-agent approve" shows '
                'them'
                if waiting
                else 'nothing was approved: no change waits for approval now'
            )
        grant = functools.partial(
            self._approvals.grant,
            {subject for each in approved for subject in each.subjects},
            who,
        )
        await _granted(grant)
        LOG.info(
            '%s approved %d changes of %d nodes (digest %s)',
            who,
            sum(len(each.lines) for each in approved),
            len(approved),
            request.digest,
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


def _who(request: Request, peer: Peer) -> str:
    """Return the person; the kernel tells the user, ``sudo`` the person."""
    user = peer.user()
    if not request.person or request.person == user:
        return user
    return f'{request.person} (as {user})'


def _named(
    words: Sequence[str], results: Sequence[NodeResult]
) -> list[NodeResult]:
    """Return the results of the nodes with these names; all for none.

    :raises errors.ConfigError: the cycle had no such node
    """
    chosen = node.selected([result.node for result in results], words)
    return [result for result in results if result.node in chosen]


def _approved(
    approved: Sequence[held.HeldNode], results: Sequence[NodeResult]
) -> list[NodeResult]:
    """Return the results of the nodes whose changes were approved."""
    nodes = {each.node for each in approved}
    return [result for result in results if result.node in nodes]


def _cycle(
    ended: cycle_requests.Ended,
    choose: Callable[[Sequence[NodeResult]], list[NodeResult]],
) -> Answer:
    """Return the result of a cycle, as ``sync`` prints it.

    :raises errors.ConfigError: it had no such node
    """
    if ended.trouble:
        return protocol.failed(ended.trouble)
    results = choose(ended.results)
    is_done = all(r.status is node_result.Status.DONE for r in results)
    return Answer(
        kind=Kind.CYCLE,
        data={
            'results': [result_view.data(result) for result in results],
            'text': result_view.text(results),
            'code': 0 if is_done else 1,
        },
    )
