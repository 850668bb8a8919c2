# SPDX-License-Identifier: Apache-2.0
"""``compute-agent status``: how the running daemon and its nodes are."""

import argparse
import pathlib
import typing

from ... import errors
from ...state.database import lock
from ..app import command
from ..wiring import agent_settings
from . import client, protocol, status_view


class Status(command.Report):
    """Show how the running daemon and its nodes are.

    The daemon answers from its memory, also while a cycle hangs or placement
    is away. The command needs the user of the daemon, or root. With a shared
    database, it also shows who reports each share and who stands by, on any
    machine. Exit code 0: the daemon answered, or the shared database did, 1: no
    daemon runs, or --max-age found a node.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes and the age."""
        command.add_nodes(
            parser, 'Show everything that is known of these nodes.'
        )
        parser.add_argument(
            '--all',
            action='store_true',
            help='Print a line for every node. By default, more than ten nodes '
            'are summed up. The formats for programs are always complete.',
        )
        parser.add_argument(
            '--max-age',
            type=_seconds,
            metavar='SECONDS',
            help='Exit with 1 if one of the nodes was not done in a cycle that '
            'ended in the last so many seconds, and print these nodes.',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Ask the daemon; return its state."""
        folder = agent_settings.state_path(self.conf())
        request = protocol.Request(
            command=protocol.Command.STATUS, nodes=tuple(parsed_args.nodes)
        )
        shares = self._shares()
        try:
            data = client.only(folder, request).data
        except client.NoDaemon as exc:
            missing = f'{exc}{_last(folder)}'
            if not shares or parsed_args.max_age is not None:
                raise errors.ConfigError(missing) from exc
            text = '\n'.join([*status_view.shares(shares), missing])
            return {'shares': shares}, text, 0
        if shares:
            data = {**data, 'shares': shares}
        lines = [*status_view.lines(data, parsed_args)]
        code = 0
        if parsed_args.max_age is not None:
            late = status_view.late(data, parsed_args.max_age)
            lines += late
            code = 1 if late else 0
        return data, '\n'.join(lines), code

    def _shares(self) -> list[dict[str, typing.Any]]:
        """Return the shares in the shared database, if the agent has one."""
        if not self.conf().compute_agent.state_connection:
            return []
        from ..wiring import sharing  # noqa: PLC0415 (needs the extra "fleet")

        try:
            return sharing.shares(self.conf())
        except errors.AgentError as exc:
            self.say(str(exc))
            return []


def _last(folder: pathlib.Path) -> str:
    """Return what a state directory tells about its last daemon."""
    last = lock.last_daemon(folder)
    return f'; the last one was {last}' if last else ''


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float('inf'):
        raise argparse.ArgumentTypeError('give more than 0 seconds')
    return seconds
