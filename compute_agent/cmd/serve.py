# SPDX-License-Identifier: Apache-2.0
"""``compute-agent placement serve``: the real placement, for development."""

import argparse

from .app import command


class PlacementServe(command.AgentCommand):
    """Serve a placement of our own on 127.0.0.1 until interrupted.

    For development and demonstrations: whoever reaches the port is admin.
    """

    def take_action(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> int:
        """Serve until SIGINT or SIGTERM."""
        from .app import signals  # noqa: PLC0415 (quick --help)
        from .wiring import agent  # noqa: PLC0415 (quick --help)

        conf = self.conf()
        stop = signals.on_signals()
        with agent.embedded_placement(conf) as server:
            self.app.stdout.write(
                f'placement listens on {server.url} (token: admin); '
                'Ctrl-C ends it\n'
            )
            self.app.stdout.flush()
            stop.wait()
        return 0
