# SPDX-License-Identifier: Apache-2.0
"""``sync`` beside a daemon; with --yes, approve what it holds back.

The daemon holds the lock of the state directory, so the command cannot run a
cycle, and asks the daemon for one. With --yes it first plans one, shows the
removals and the first writes that wait for a person, asks, and writes an
approval of exactly these into the state database. Without a terminal it cannot
ask, and --yes is the answer.
"""

import contextlib
from collections.abc import Collection, Sequence

from oslo_config import cfg

from ...cycle.node.node_result import NodeResult
from ...state import state
from ...tree import node
from ..app import command, confirm, person, progress
from ..control import asking as control
from ..control import client, protocol
from ..plan import plan_view
from ..wiring import agent_settings
from ..wiring.agent import open_agent

_APPROVED = (
    'approved: the daemon makes exactly these changes; the approval of '
    'removals covers no others, that of a first write no other provider; it '
    'expires after a day'
)
_ALREADY = (
    'nothing more waits for confirmation; what was approved before is made in '
    "the daemon's next cycle"
)
_NOTHING = 'nothing waits for confirmation'
_LATER = (
    'the changes are made in the next cycle, which cannot be begun now ({}); '
    'SIGHUP begins the next cycle of a daemon without a control socket'
)


def approve(
    asking: command.AgentCommand, conf: cfg.ConfigOpts, only: Collection[str]
) -> control.Reported:
    """Show what is held back, ask, record the approval, and have a cycle run.

    :param only: the names, uuids or titles of the nodes whose changes are
        approved; empty for all nodes
    :raises client.NoDaemon: nothing is approved, and no cycle can be begun
    """
    results = _planned(asking, conf, only)
    held = [r for r in results if r.held]
    if not held:
        if any(r.approved for r in results):
            return _then_cycle(asking, conf, only, [_ALREADY])
        data, text, code = cycle(asking, conf, only)
        return data, '\n'.join([_NOTHING, *filter(None, [text])]), code
    shown = plan_view.text(held, every=True) or ''
    stdin = asking.app.stdin
    asks = stdin is not None and stdin.isatty()
    refused = confirm.refused(asking, shown.split('\n'), yes=not asks)
    if refused:
        return [], *refused
    _grant(conf, held)
    said = [_APPROVED] if asks else [shown, _APPROVED]
    return _then_cycle(asking, conf, only, said)


def cycle(
    asking: command.AgentCommand, conf: cfg.ConfigOpts, only: Collection[str]
) -> control.Reported:
    """Have the daemon run a cycle; return each node's result.

    :raises client.NoDaemon: there is no daemon behind the control socket
    """
    request = protocol.Request(
        command=protocol.Command.CYCLE,
        nodes=tuple(only),
        person=client.person(),
    )
    return control.cycle(asking, agent_settings.state_path(conf), request)


def _planned(
    asking: command.AgentCommand, conf: cfg.ConfigOpts, only: Collection[str]
) -> list[NodeResult]:
    """Return what the daemon's next cycle would do to these nodes."""
    with (
        open_agent(conf, read_only=True) as agent,
        progress.bar(asking.app.stderr, 'nodes') as advance,
    ):
        # Limits hold back a mass of all nodes, so all of them are planned.
        results = agent.tracker.plan(advance)
    chosen = node.selected([r.node for r in results], only)
    return [r for r in results if r.node in chosen]


def _grant(conf: cfg.ConfigOpts, held: Sequence[NodeResult]) -> None:
    """Record the approval of all that is held back."""
    directory = agent_settings.state_path(conf)
    with contextlib.closing(state.State.open_beside(directory)) as beside:
        beside.approvals.grant(
            {subject for result in held for subject in result.held},
            person.name(),
        )


def _then_cycle(
    asking: command.AgentCommand,
    conf: cfg.ConfigOpts,
    only: Collection[str],
    said: list[str],
) -> control.Reported:
    """Have the daemon run a cycle; return what was said, and its result."""
    try:
        data, text, code = cycle(asking, conf, only)
    except client.NoDaemon as exc:
        return [], '\n'.join([*said, _LATER.format(exc)]), 1
    return data, '\n'.join([*said, *filter(None, [text])]), code
