# SPDX-License-Identifier: Apache-2.0
"""``compute-agent plan``: what ``sync`` would do, nothing done."""

import argparse
import typing

from . import command

if typing.TYPE_CHECKING:
    from report_client import plan as planning


class Plan(command.Report):
    """Print what sync would write to placement; write nothing.

    Exit code 0: nothing to do, 2: there are changes, 1: an error.
    """

    def report(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> tuple[typing.Any, str | None, int]:
        """Return each node's plan."""
        from report_client import render  # noqa: PLC0415 (quick --help)

        from .. import resource_tracker  # noqa: PLC0415
        from . import wiring  # noqa: PLC0415

        with wiring.agent(self.conf(), looking=True) as agent:
            results = agent.tracker.plan()
        planned = [
            (typing.cast('planning.Plan', r.plan), r.node.name)
            for r in results
            if r.plan is not None
        ]
        failed = [
            r for r in results if r.status is not resource_tracker.Status.DONE
        ]
        for result in failed:
            self.app.stderr.write(
                f'compute-agent: {result.node}: {result.reason}\n'
            )
        texts = [render.text(plan, name) for plan, name in planned]
        data = [render.data(plan, name) for plan, name in planned]
        changes = any(plan.operations for plan, _ in planned)
        code = 1 if failed else 2 if changes else 0
        return data, '\n\n'.join(texts) if texts else None, code
