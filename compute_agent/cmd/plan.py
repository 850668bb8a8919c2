# SPDX-License-Identifier: Apache-2.0
"""``compute-agent plan``: print the writes that ``sync`` would send."""

import argparse
import dataclasses
import typing
from collections.abc import Sequence

from . import pruning
from .app import command

if typing.TYPE_CHECKING:
    from report_client.plan import diff as planning

    from .wiring.agent import NodeResult


class Plan(command.Report):
    """Print what sync would write to placement, and write nothing.

    Exit code 0: nothing to do, 2: changes, 1: an error, or nodes that sync
    would not finish, for example because of max_deletions.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the options of sync that a plan shows."""
        parser = super().get_parser(prog_name)
        pruning.add_options(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return each node's plan."""
        from ..cycle import node_result  # noqa: PLC0415 (quick --help)
        from .app import progress  # noqa: PLC0415
        from .wiring.agent import open_agent  # noqa: PLC0415

        prune = pruning.parse(parsed_args)
        with (
            open_agent(self.conf(), read_only=True, prune=prune) as agent,
            progress.bar(self.app.stderr, 'nodes') as advance,
        ):
            pruning.check_node(prune, agent.tracker.nodes)
            results = agent.tracker.plan(advance)
        for line in pruning.unmet(prune, results):
            self.say(line)
        undone = [
            r for r in results if r.status is not node_result.Status.DONE
        ]
        for result in undone:
            if result.plan is None:
                self.say(result.node.line(result.reason))
        data = [_data(r) for r in results]
        changes = any(r.plan and r.plan.operations for r in results)
        return data, _text(results), 1 if undone else 2 if changes else 0


def _data(result: 'NodeResult') -> dict[str, typing.Any]:
    from report_client.plan import render  # noqa: PLC0415

    return render.data(_plan(result), result.node.called)


def _text(results: Sequence['NodeResult']) -> str | None:
    """Return the plans; of several nodes the non-empty ones, and a sum."""
    from report_client.plan import render  # noqa: PLC0415

    planned = [r for r in results if r.plan is not None or r.notes]
    if not results:
        return 'no nodes'
    if len(results) == 1:
        shown = planned
    else:
        shown = [r for r in planned if r.notes or _plan(r).says_anything()]
    texts = [render.text(_plan(r), r.node.called) for r in shown]
    if len(results) > 1:
        texts.append(render.total([_plan(r) for r in planned], len(results)))
    return '\n\n'.join(texts) if texts else None


def _plan(result: 'NodeResult') -> 'planning.Plan':
    """Return a node's plan, with the reason if the node is not done.

    A node that could not be planned has an empty plan.
    """
    from report_client.plan import diff as planning  # noqa: PLC0415 (quick --help)

    plan = result.plan
    if plan is not None and '; '.join(plan.faults) == result.reason:
        return plan
    empty = planning.Plan(
        node_uuid=result.node.uuid,
        operations=(),
        before={},
        notes=result.notes,
    )
    faults = (result.reason,) if result.reason else ()
    return dataclasses.replace(plan or empty, faults=faults)
