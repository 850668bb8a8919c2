# SPDX-License-Identifier: Apache-2.0
"""``compute-agent plan``: print the writes that ``sync`` would send."""

import argparse
import typing
from collections.abc import Sequence

from report_client.plan import render

from ... import errors
from ...cycle.node.node_result import NodeResult
from ..app import command, progress
from ..wiring.opening import open_agent
from . import masks, plan_view, pruning, saved, waiting


class Plan(command.Report):
    """Print what sync would write to placement, and write nothing.

    The plans of many nodes are summed up; --all prints each of them, and
    --saved sums up what many hosts have saved of theirs.

    Exit code 0: nothing to do, 2: changes, 1: an error, or nodes that sync
    would not finish, for example because of a limit.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes, and the options of sync."""
        command.add_nodes(
            parser,
            "Plan only these nodes, and none that left the driver's list.",
        )
        parser.add_argument(
            '--all',
            action='store_true',
            help=f'Print the plan of every node. By default, the plans of '
            f'more than {plan_view.MANY} nodes are summed up: equal plans are '
            'printed once. The formats for programs are always complete.',
        )
        pruning.add_options(parser)
        parser.add_argument(
            '--saved',
            nargs='+',
            metavar='FILE',
            default=[],
            help='Sum up these plans, which "compute-agent plan -f json" '
            'printed on their hosts: a line for each change, with the number '
            'of its nodes. Nothing else is read.',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Return each node's plan."""
        if parsed_args.saved:
            if parsed_args.nodes or parsed_args.prune or parsed_args.all:
                raise errors.ConfigError(
                    '--saved sums up files and takes no node, --all or --prune'
                )
            return _summed_up(parsed_args.saved)

        prune = pruning.parse(parsed_args)
        conf = self.conf()
        with (
            open_agent(conf, read_only=True, prune=prune) as agent,
            progress.bar(self.app.stderr, 'nodes') as advance,
        ):
            pruning.check_node(prune, agent.tracker.nodes)
            results = agent.tracker.plan(advance, parsed_args.nodes)
        for line in pruning.unmet(prune, results):
            self.say(line)
        for line in masks.unmatched(conf.compute_agent.masked_traits, results):
            self.say(line)
        undone = [r for r in results if not r.is_settled]
        for line in plan_view.unplanned(undone, every=parsed_args.all):
            self.say(line)
        data = [node_data(r) for r in results]
        changes = any(plan_view.plan(r).operations for r in results)
        text = plan_view.text(results, every=parsed_args.all)
        held = '\n'.join(waiting.lines_of(results))
        text = '\n\n'.join(filter(None, [text, held])) or None
        return data, text, 1 if undone else 2 if changes else 0


def _summed_up(paths: Sequence[str]) -> tuple[typing.Any, str, int]:
    found = saved.summary(saved.read(paths))
    code = 1 if found.undone else 2 if found.changing else 0
    return found.data(), found.text(), code


def node_data(result: NodeResult) -> dict[str, typing.Any]:
    """Return the plan of a node as data, with what waits for a person."""
    made = plan_view.plan(result)
    planned = render.data(made, result.node.called, result.waits)
    return planned | {'waiting': waiting.node_data([result])}
