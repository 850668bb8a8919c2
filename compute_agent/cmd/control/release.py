# SPDX-License-Identifier: Apache-2.0
"""``compute-agent release``: have a standby report in place of this daemon."""

import argparse

from ..app import command
from ..wiring import agent_settings
from . import client, protocol


class Release(command.Report):
    """Have another agent report the share in place of the running daemon.

    The daemon finishes the node in hand, begins no other, and leaves the share.
    Then an agent that stands by takes it; this daemon stands by. If no other
    agent stands by, nothing is done. Exit code 0: the daemon left the share, 1:
    an error.
    """

    def report(self, _parsed_args: argparse.Namespace) -> command.Reported:
        """Ask the daemon; return its line."""
        request = protocol.Request(
            command=protocol.Command.RELEASE, person=client.person()
        )
        folder = agent_settings.state_path(self.conf())
        data = client.only(folder, request).data
        return data, data['text'], 0
