# SPDX-License-Identifier: Apache-2.0
"""The daemon's side of the control socket, opened and closed by ``run``.

If the socket cannot be made, the daemon says so in one line and goes on
without it.
"""

import contextlib
import logging
import pathlib
import typing
from collections.abc import Callable, Iterator

from ... import error_text, errors
from ...state.approvals import Approvals
from . import (
    address,
    between_cycles,
    daemon_data,
    requests_of_share,
    server,
)
from .answers import Answers
from .cycle_requests import CycleRequests
from .node_states import NodeStates

if typing.TYPE_CHECKING:  # it needs the extra "fleet"
    from ..wiring.sharing import Sharing

LOG = logging.getLogger(__name__)


class Control:
    """The control of a daemon: the state after its cycles, and the requests.

    :param share: the name of the agent's share
    :param agent_id: returns the id of the agent, which joining a share changes
    :param begin_now: has the daemon begin a cycle as soon as none runs
    :ivar states: the nodes, over the cycles; told of each cycle by ``run``
    :ivar cycles: the cycles that people asked for; told in the same way
    """

    def __init__(
        self,
        share: str,
        agent_id: Callable[[], str],
        begin_now: Callable[[], object],
    ) -> None:
        self._agent = lambda: {'share': share, 'agent': agent_id()}
        self.states = NodeStates()
        self.cycles = CycleRequests(begin_now)

    @contextlib.contextmanager
    def serving(
        self,
        folder: pathlib.Path,
        daemon: daemon_data.Daemon,
        approvals: Approvals,
        breaker: Callable[[], str],
        records: between_cycles.Records,
        sharing: 'Sharing | None' = None,
    ) -> Iterator[None]:
        """Serve the control socket in a state directory, if it can be made.

        With a share, requests come through its database, too.

        :param breaker: returns why the circuit breaker is open, or empty
        :param records: the records of nodes, which people move
        :param sharing: the lease and the record of this agent, if it has them
        """
        answers = Answers(
            daemon,
            self.states,
            self.cycles,
            approvals,
            breaker,
            self._agent,
            records,
            None if sharing is None else sharing.membership,
        )
        serving = _server(folder, answers)
        shared = None
        if sharing is not None:
            shared = requests_of_share.Server(sharing, answers)
            shared.start()
        try:
            yield
        finally:
            if shared is not None:
                shared.close()
            if serving is not None:
                serving.close()
                with contextlib.suppress(OSError, errors.ConfigError):
                    address.remove(folder)


def _server(folder: pathlib.Path, answers: Answers) -> server.Server | None:
    """Return a running server; without one, return None and log why."""
    try:
        serving = server.Server(address.listening(folder), answers.to)
        serving.start()
    except (OSError, RuntimeError, errors.ConfigError) as exc:
        why = error_text.one_line(exc)
    else:
        return serving
    LOG.error(
        'the control socket %s cannot be made: %s; the daemon goes on without '
        'it, so "compute-agent status", "approve" and "sync" do not reach it',
        folder / address.NAME,
        why,
    )
    return None
