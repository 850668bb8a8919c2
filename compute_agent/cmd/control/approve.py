# SPDX-License-Identifier: Apache-2.0
"""``compute-agent approve``: let the daemon make changes that it holds back."""

import argparse
import pathlib
import re
import typing

from ... import errors
from ..app import command, confirm
from ..wiring import agent_settings
from . import asking, client, protocol, status_view

_NOTHING = 'the daemon holds nothing back'
_DIGEST = re.compile(r'[0-9a-f]{16}')  # as ``held.digest`` makes it


class Approve(command.Report):
    """Show the changes that the daemon holds back, and let it make them.

    These are the removals and the first writes that wait for a person. The
    command lists them, with a digest, and asks. Without a terminal, and with
    -f json or yaml, it only lists them; "compute-agent approve DIGEST" then
    approves exactly this list, once: if other changes wait by then, nothing is
    approved. The daemon begins a cycle, and the command shows its result.
    Exit code 0: nothing waits, nothing was approved, or every node of the
    approved changes is done, 1: an error, or nodes that are not done.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the nodes and the digest."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'words',
            nargs='*',
            metavar='NODE|DIGEST',
            help='The nodes whose changes are shown or approved, by names or '
            'uuids (default: all nodes of this agent), and the digest of the '
            'changes to approve: 16 hexadecimal digits, as the command shows '
            'them.',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """List the changes, or approve them."""
        nodes, digest = _divided(parsed_args.words)
        folder = agent_settings.state_path(self.conf())
        try:
            if digest:
                return self._approve(folder, nodes, digest)
            return self._list(folder, nodes, parsed_args)
        except client.NoDaemon as exc:
            raise errors.ConfigError(
                f'{exc}; without a daemon, "compute-agent plan" shows what '
                'waits, and "compute-agent sync --yes" makes it'
            ) from exc

    def _list(
        self,
        folder: pathlib.Path,
        nodes: tuple[str, ...],
        parsed_args: argparse.Namespace,
    ) -> asking.Reported:
        """Show the changes that wait; approve them if the person agrees."""
        request = protocol.Request(command=protocol.Command.HELD, nodes=nodes)
        data = client.only(folder, request).data
        if not data['changes']:
            return data, _NOTHING, 0
        shown = [*status_view.held_lines(data)]
        stdin = self.app.stdin
        asks = stdin is not None and stdin.isatty()
        if parsed_args.format != 'text' or not asks:
            words = ' '.join([*nodes, data['digest']])
            shown.append(
                'to have exactly these changes made: '
                f'compute-agent approve {words}'
            )
            return data, '\n'.join(shown), 0
        refused = confirm.refused(self, shown, yes=False)
        if refused:
            return [], *refused
        return self._approve(folder, nodes, data['digest'])

    def _approve(
        self, folder: pathlib.Path, nodes: tuple[str, ...], digest: str
    ) -> asking.Reported:
        request = protocol.Request(
            command=protocol.Command.APPROVE,
            nodes=nodes,
            digest=digest,
            person=client.person(),
        )
        return asking.cycle(self, folder, request)


def _divided(words: list[str]) -> tuple[tuple[str, ...], str]:
    """Return the nodes and the digest; empty if there is none.

    :raises errors.ConfigError: there are several digests
    """
    digests = [w.lower() for w in words if _DIGEST.fullmatch(w.lower())]
    if len(digests) > 1:
        raise errors.ConfigError(
            f'give one digest: {" and ".join(digests)} are of different lists'
        )
    nodes = tuple(word for word in words if word.lower() not in digests)
    return nodes, digests[0] if digests else ''
