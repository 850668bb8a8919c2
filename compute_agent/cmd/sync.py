# SPDX-License-Identifier: Apache-2.0
"""``compute-agent sync``: one cycle, and how it ended for each node."""

import argparse
import collections
import typing
from collections.abc import Sequence

from . import pruning
from .app import command


class Sync(command.Report):
    """Make placement match this agent's nodes, once.

    Exit code 0: every node is done, 1: some are not, or an error.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the consent to large removals."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--yes',
            action='store_true',
            help='Remove what is to be removed, however much it is '
            '([compute_agent] max_deletions, max_removed_percent), and what '
            'placement has of nodes although every node is gone.',
        )
        pruning.add(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Do a cycle; return each node's result."""
        from ..cycle import resource_tracker  # noqa: PLC0415
        from ..state import lock  # noqa: PLC0415
        from .app import progress  # noqa: PLC0415
        from .wiring import agent as wiring  # noqa: PLC0415

        prune = pruning.given(parsed_args)
        conf = self.conf()
        with (
            lock.hold(wiring.state_path(conf)),
            wiring.agent(
                conf, looking=False, unlimited=parsed_args.yes, prune=prune
            ) as agent,
            progress.bar(self.app.stderr, 'nodes') as advance,
        ):
            pruning.check_node(prune, agent.tracker.nodes)
            results = agent.tracker.sync(advance)
        for line in pruning.unmet(prune, results):
            self.say(line)
        done = [r.status is resource_tracker.Status.DONE for r in results]
        return (
            [_data(r) for r in results],
            _text(results),
            0 if all(done) else 1,
        )


def _text(results: Sequence[typing.Any]) -> str:
    """Return what became of the nodes; of many, those with news."""
    if len(results) <= 1:
        return _node(results[0]) if results else 'no nodes'
    news = [r for r in results if r.applied or r.reason or r.notes]
    count = collections.Counter(r.status.value for r in results)
    applied = sum(len(r.applied) for r in results)
    total = (
        f'{len(results)} nodes: '
        + ', '.join(f'{n} {status}' for status, n in count.items())
        + f'; {applied} operation{"" if applied == 1 else "s"}'
    )
    return '\n'.join([*(_node(r) for r in news), total])


def _node(result: typing.Any) -> str:
    from report_client.plan import render  # noqa: PLC0415

    lines = [f'{result.node}: {result.status.value}']
    if result.reason:
        lines[0] += f': {result.reason}'
    elif not result.applied:
        lines[0] += f', {render.NOTHING}'
    lines += [f'  {render.line(op)}' for op in result.applied]
    lines += [f'  note: {note}' for note in result.notes]
    return '\n'.join(lines)


def _data(result: typing.Any) -> dict[str, typing.Any]:
    from report_client.plan import render  # noqa: PLC0415

    return {
        'node': result.node.called,
        'uuid': result.node.uuid,
        'status': result.status.value,
        'reason': result.reason,
        'operations': [render.operation_data(op) for op in result.applied],
        'notes': list(result.notes),
    }
