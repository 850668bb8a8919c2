# SPDX-License-Identifier: Apache-2.0
"""``compute-agent plan``: what ``sync`` would do, nothing done."""

import argparse
import dataclasses
import typing
from collections.abc import Sequence

from . import pruning
from .app import command

if typing.TYPE_CHECKING:
    from report_client.plan import diff as planning

    from ..cycle import resource_tracker


class Plan(command.Report):
    """Print what sync would write to placement; write nothing.

    Exit code 0: nothing to do, 2: there are changes, 1: an error, or nodes
    that would not be done, such as those held back by max_deletions.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with what sync would be told to remove."""
        parser = super().get_parser(prog_name)
        pruning.add(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return each node's plan."""
        from ..cycle import resource_tracker  # noqa: PLC0415 (quick --help)
        from .app import progress  # noqa: PLC0415
        from .wiring import agent as wiring  # noqa: PLC0415

        prune = pruning.given(parsed_args)
        with (
            wiring.agent(self.conf(), looking=True, prune=prune) as agent,
            progress.bar(self.app.stderr, 'nodes') as advance,
        ):
            pruning.check_node(prune, agent.tracker.nodes)
            results = agent.tracker.plan(advance)
        for line in pruning.unmet(prune, results):
            self.say(line)
        undone = [
            r for r in results if r.status is not resource_tracker.Status.DONE
        ]
        for result in undone:
            if result.plan is None:
                self.app.stderr.write(
                    f'compute-agent: {result.node}: {result.reason}\n'
                )
        data = [_data(r) for r in results]
        changes = any(r.plan and r.plan.operations for r in results)
        return data, _text(results), 1 if undone else 2 if changes else 0


def _data(result: 'resource_tracker.NodeResult') -> dict[str, typing.Any]:
    from report_client.plan import render  # noqa: PLC0415

    return render.data(_plan(result), result.node.called)


def _text(results: Sequence['resource_tracker.NodeResult']) -> str | None:
    """Return the plans, of many nodes those that say anything, and a sum."""
    from report_client.plan import render  # noqa: PLC0415

    some = [r for r in results if r.plan is not None or r.notes]
    if not results:
        return 'no nodes'
    if len(results) == 1:
        shown = some
    else:
        shown = [r for r in some if r.notes or _plan(r).says_anything()]
    texts = [render.text(_plan(r), r.node.called) for r in shown]
    if len(results) > 1:
        texts.append(render.total([_plan(r) for r in some], len(results)))
    return '\n\n'.join(texts) if texts else None


def _plan(result: 'resource_tracker.NodeResult') -> 'planning.Plan':
    """Return the plan of a node with why it is not done, if it is not.

    A node that never came to have one has an empty one.
    """
    from report_client.plan import diff as planning  # noqa: PLC0415 (quick --help)

    plan = typing.cast('planning.Plan | None', result.plan)
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
