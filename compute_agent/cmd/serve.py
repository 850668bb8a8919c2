# SPDX-License-Identifier: Apache-2.0
"""``compute-agent placement serve``: the real placement for development."""

import argparse

from .app import command, signals
from .wiring import placement


class PlacementServe(command.AgentCommand):
    """Serve the embedded placement on 127.0.0.1 until it is stopped.

    It is for development and demonstrations: every client that reaches the
    port is an administrator.
    """

    def take_action(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> int:
        """Serve until SIGINT or SIGTERM."""
        conf = self.conf()
        stop = signals.stop_on_signals()
        with placement.embedded_placement(conf) as server:
            self.app.stdout.write(
                f'placement listens on {server.url} (token: admin); '
                'Ctrl-C stops it\n'
            )
            self.app.stdout.flush()
            stop.wait()
        return 0
