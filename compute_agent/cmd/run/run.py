# SPDX-License-Identifier: Apache-2.0
"""``compute-agent run``: the options of the daemon, which ``process.py`` runs."""

import argparse

from ..app import command


class Run(command.AgentCommand):
    """Run the daemon: one cycle after the other, until it is stopped.

    Each cycle makes placement match this agent's nodes. On SIGHUP the daemon
    reads its configuration and its provider-config files again, and a cycle
    begins at once. On SIGUSR2, it writes what it does into the file report.txt
    in its state directory. With "[placement] embedded = true" the daemon also
    serves the embedded placement, unless "placement serve" does. In a systemd
    unit of Type=notify, it says when it is ready and feeds the watchdog.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the option."""
        parser.add_argument(
            '--show-tree',
            action='store_true',
            help='Print the provider tree after the first cycle.',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Run the daemon until SIGINT or SIGTERM; return the exit code."""
        from . import process  # noqa: PLC0415 (imports the whole agent)

        return process.run(
            self.app.global_options,
            self.app.stdout,
            show_tree=parsed_args.show_tree,
        )
