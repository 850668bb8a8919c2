# SPDX-License-Identifier: Apache-2.0
"""``compute-agent sync``: one cycle, and how it ended for each node."""

import argparse
import typing

from . import command


class Sync(command.Report):
    """Make placement match this agent's nodes, once.

    Exit code 0: every node is done, 1: some are not, or an error.
    """

    def report(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> tuple[typing.Any, str | None, int]:
        """Do a cycle; return each node's result."""
        from .. import instance_lock, resource_tracker  # noqa: PLC0415
        from . import wiring  # noqa: PLC0415

        conf = self.conf()
        with (
            instance_lock.hold(wiring.state_path(conf)),
            wiring.agent(conf, looking=False) as agent,
        ):
            results = agent.tracker.sync()
        done = [r.status is resource_tracker.Status.DONE for r in results]
        return (
            [_data(r) for r in results],
            '\n'.join(_text(r) for r in results) if results else 'no nodes',
            0 if all(done) else 1,
        )


def _text(result: typing.Any) -> str:
    from report_client import render  # noqa: PLC0415

    lines = [f'{result.node}: {result.status.value}']
    if result.reason:
        lines[0] += f': {result.reason}'
    elif not result.applied:
        lines[0] += f', {render.NOTHING}'
    lines += [f'  {render.line(op)}' for op in result.applied]
    lines += [f'  note: {note}' for note in result.notes]
    return '\n'.join(lines)


def _data(result: typing.Any) -> dict[str, typing.Any]:
    from report_client import render  # noqa: PLC0415

    return {
        'node': result.node.name,
        'uuid': result.node.uuid,
        'status': result.status.value,
        'reason': result.reason,
        'operations': [render.operation_data(op) for op in result.applied],
        'notes': list(result.notes),
    }
