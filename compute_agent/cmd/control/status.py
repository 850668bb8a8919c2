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
    is away. The command needs the user of the daemon, or root. Exit code 0:
    the daemon answered, 1: no daemon runs, or --max-age found a node.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the nodes and the age."""
        parser = super().get_parser(prog_name)
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
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Ask the daemon; return its state."""
        folder = agent_settings.state_path(self.conf())
        request = protocol.Request(
            command=protocol.Command.STATUS, nodes=tuple(parsed_args.nodes)
        )
        try:
            data = client.only(folder, request).data
        except client.NoDaemon as exc:
            raise errors.ConfigError(f'{exc}{_last(folder)}') from exc
        lines = [*status_view.lines(data, parsed_args)]
        code = 0
        if parsed_args.max_age is not None:
            late = status_view.late(data, parsed_args.max_age)
            lines += late
            code = 1 if late else 0
        return data, '\n'.join(lines), code


def _last(folder: pathlib.Path) -> str:
    """Return the last daemon of a state directory, as far as it tells."""
    last = lock.last_daemon(folder)
    return f'; the last one was {last}' if last else ''


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float('inf'):
        raise argparse.ArgumentTypeError('give more than 0 seconds')
    return seconds
