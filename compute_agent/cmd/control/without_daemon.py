# SPDX-License-Identifier: Apache-2.0
"""List and approve the changes that wait, where no daemon answers.

The command plans, writes the approval into the state database, and runs a cycle
itself. If another process has the state directory, that process's next cycle
finds the approval. ``asking.py`` calls this module.
"""

import contextlib
from collections.abc import Collection, Sequence

from oslo_config import cfg

from ... import errors
from ...cycle.node.node_result import NodeResult
from ...limits import approval
from ...state import state
from ...state.database import lock
from ...tree import node
from ..app import command, person, progress
from ..plan import result_view, waiting
from ..wiring import agent_settings
from ..wiring.opening import open_agent

_LATER = (
    'the changes are made in the next cycle, which cannot be begun now ({}); '
    'SIGHUP begins the next cycle of a daemon without a control socket'
)


def planned(
    asks: command.AgentCommand, conf: cfg.ConfigOpts, nodes: Collection[str]
) -> list[waiting.Waiting]:
    """Return the changes of these nodes that wait, as a plan finds them."""
    with (
        open_agent(conf, read_only=True) as agent,
        progress.bar(asks.app.stderr, 'nodes') as advance,
    ):
        # Limits hold back a mass of all nodes, so all of them are planned.
        return waiting_in(agent.tracker.plan(advance), nodes)


def waiting_in(
    results: Sequence[NodeResult], nodes: Collection[str]
) -> list[waiting.Waiting]:
    """Return the changes of these nodes that wait in a plan of all nodes."""
    chosen = node.selected([r.node for r in results], nodes)
    return waiting.of(r for r in results if r.node in chosen)


def approve(
    asks: command.AgentCommand,
    conf: cfg.ConfigOpts,
    nodes: Collection[str],
    digests: Collection[str],
) -> command.Reported:
    """Approve changes, and run a cycle; the parameters are as in ``asking``.

    :raises errors.AgentError: other changes wait now, or no cycle can be run
    """
    approved = planned(asks, conf, nodes)
    if digests:
        approved = waiting.chosen(approved, digests, nodes)
    said = waiting.approved(waiting.data(approved), shows=not digests)
    directory = agent_settings.state_path(conf)
    try:
        with lock.hold_as_owner(directory):
            results = _cycle(asks, conf, waiting.subjects(approved))
    except errors.StateInUse as exc:
        if not approved:
            raise
        with (
            lock.as_owner(directory),
            contextlib.closing(state.State.open_beside(directory)) as beside,
        ):
            _grant(beside, waiting.subjects(approved))
        return [], '\n'.join([said, _LATER.format(exc)]), 1
    # A reinstalled host may have another uuid by now.
    names = {one.node.name for one in approved}
    shown = [r for r in results if r.node.name in names or not names]
    is_done = all(r.is_settled for r in shown)
    return (
        [result_view.data(result) for result in shown],
        f'{said}\n{result_view.text(shown)}',
        0 if is_done else 1,
    )


def _cycle(
    asks: command.AgentCommand,
    conf: cfg.ConfigOpts,
    subjects: frozenset[approval.Subject],
) -> Sequence[NodeResult]:
    """Run a cycle of this process with these changes approved."""
    with (
        open_agent(conf, read_only=False, by=asks.actor) as agent,
        progress.bar(asks.app.stderr, 'nodes') as advance,
    ):
        _grant(agent.state, subjects)
        return agent.tracker.sync(advance)


def _grant(
    database: state.State, subjects: frozenset[approval.Subject]
) -> None:
    if subjects:
        database.approvals.grant(subjects, person.name())
