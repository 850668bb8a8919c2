# SPDX-License-Identifier: Apache-2.0
"""``compute-agent leave``: take all that this agent added off its nodes.

The command uses the record, and needs no answer of the driver, nor a driver
that could start: a host may be half taken down already. A running daemon would
add everything again, so the command refuses to run beside it.
"""

import argparse
import contextlib
from collections.abc import Sequence

from oslo_config import cfg

from report_client import errors as placement_errors
from report_client.api import traits as traits_api
from report_client.plan import render

from .. import errors
from ..cycle.node.node_result import NodeResult
from ..fleet.values import mark
from ..state.database import lock
from ..tree import node
from ..tree.node import Node
from .app import command, confirm
from .plan import plan_view
from .wiring import agent_settings, placement
from .wiring.agent import Agent
from .wiring.opening import open_agent

_STOP = (
    'stop the daemon first, because it would add everything again in its next '
    'cycle'
)
_NOTHING = 'nothing of this agent is recorded on {}'


class Leave(command.Report):
    """Take off nodes everything that this agent added, children first.

    Providers that the agent created are deleted, and names that it added are
    removed. What other writers added stays. A provider with allocations is not
    deleted but reserved, and one line says so. The command shows what it will
    do, and asks. Run it before you delete the compute service of a host, and
    before you uninstall the agent; stop the daemon first. Exit code 0:
    everything is off, 1: something stays.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes."""
        command.add_nodes(parser, 'The nodes to leave.')
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Show the plan, ask, and carry it out."""
        conf = self.conf()
        if conf.compute_agent.state_connection:
            _refuse_beside_agents(conf)
        try:
            with (
                lock.hold_as_owner(agent_settings.state_path(conf)),
                open_agent(
                    conf, read_only=False, describes=False, by=self.actor
                ) as agent,
            ):
                recorded = agent.state.nodes.all()
                return self._leave(
                    agent,
                    node.selected(recorded, parsed_args.nodes),
                    parsed_args,
                )
        except errors.StateInUse as exc:
            raise errors.StateInUse(f'{exc}; {_STOP}') from exc

    def _leave(
        self,
        agent: Agent,
        nodes: Sequence[Node],
        parsed_args: argparse.Namespace,
    ) -> command.Reported:
        planned = agent.tracker.leave(nodes, writing=False)
        if not any(r.plan and r.plan.operations for r in planned):
            if not any(r.reason for r in planned):
                agent.tracker.leave(nodes, writing=True)  # ends the claims
                agent.state.nodes.forget(n.uuid for n in nodes)
            return _outcome(planned)
        shown = plan_view.text(planned, every=True) or ''
        refused = confirm.refused(self, shown.split('\n'), yes=parsed_args.yes)
        if refused:
            return [], *refused
        results = agent.tracker.leave(nodes, writing=True)
        agent.state.nodes.forget(r.node.uuid for r in results if not r.reason)
        data, text, code = _outcome(results)
        deleted = self._delete_mark(agent.state.agent_id, results)
        return data, '\n'.join(filter(None, [text, *deleted])), code

    def _delete_mark(
        self, agent_id: str, results: Sequence[NodeResult]
    ) -> list[str]:
        """Delete the mark of this agent once no provider has it."""
        own = {
            one.trait
            for result in results
            for seen in (result.plan.before if result.plan else {}).values()
            for one in mark.marks(seen.traits)
            if one.agent == agent_id
        }
        if not own:
            return []
        api = traits_api.Traits(placement.placement_service(self.conf()))
        unused = api.names(name_in=own, associated=False)
        for name in unused:
            with contextlib.suppress(
                placement_errors.InUse, placement_errors.DoesNotExist
            ):
                api.remove(name)
        return [f'trait {name} deleted: no provider has it' for name in unused]


def _refuse_beside_agents(conf: cfg.ConfigOpts) -> None:
    """Refuse to leave a share that agents report, or would report next.

    :raises errors.StateInUse: such agents run
    """
    from .wiring import sharing  # noqa: PLC0415 (needs the extra "fleet")

    name = sharing.share_name(conf)
    running = sharing.running(conf, name)
    if running:
        raise errors.StateInUse(
            f'agents of the share {name} run, which would add everything again: '
            f'{", ".join(running)}; stop them all, and run the command then'
        )


def _outcome(
    results: Sequence[NodeResult],
) -> command.Reported:
    lines = []
    for result in results:
        if result.reason:
            lines.append(result.node.line(result.reason))
        elif result.applied:
            lines.append(f'{result.node}: left')
        else:
            lines.append(_NOTHING.format(result.node))
        lines += [f'  {render.line(op)}' for op in result.applied]
        lines += [f'  note: {note}' for note in result.notes]
    data = [
        {
            'node': result.node.called,
            'uuid': result.node.uuid,
            'reason': result.reason,
            'operations': [render.operation_data(op) for op in result.applied],
        }
        for result in results
    ]
    text = '\n'.join(lines) or 'no node is recorded'
    return data, text, 1 if any(r.reason for r in results) else 0
