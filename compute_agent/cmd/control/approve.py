# SPDX-License-Identifier: Apache-2.0
"""``compute-agent approve`` lists the changes that wait, and approves them."""

import argparse
import re

from ... import error_text, errors
from ..app import command, confirm
from ..plan import waiting
from . import asking

_DIGEST = re.compile(r'[0-9a-f]{16}')  # as ``waiting.digest`` makes it
_BEGINNING = re.compile(r'[0-9a-f]{6,15}')


class Approve(command.Report):
    """Show the changes that wait for a person, and have them made.

    These are removals and first writes that the agent does not make by itself.
    The command lists them, with digests, and asks. Without a terminal, and
    with -f json or yaml, it only lists them. "compute-agent approve DIGEST
    ..." approves exactly the changes of these digests, once: if other changes
    wait by then, nothing is approved. Then a cycle runs, of the daemon if one
    runs, and the command shows its result. Exit code 0: nothing waits, nothing
    was approved, or every node of the approved changes is done, 1: an error,
    or nodes that are not done. If another agent reports the share of this one,
    its next cycle makes the changes, and the exit code is 0.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes and the digests."""
        parser.add_argument(
            'words',
            nargs='*',
            metavar='NODE|DIGEST',
            help='The nodes whose changes are shown or approved, by names or '
            'uuids (default: all nodes of this agent), and the digests of the '
            'changes to approve: 16 hexadecimal digits each, as the command '
            'shows them for all changes, for a kind, a node and a change.',
        )
        parser.add_argument(
            '--all',
            action='store_true',
            help='Approve whatever waits, unseen, and print it; as "sync '
            '--yes" does.',
        )

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """List the changes, or approve them."""
        nodes, digests = _divided(parsed_args.words)
        if digests and parsed_args.all:
            raise errors.ConfigError(
                f'--all approves whatever waits: leave out {digests[0]}'
            )
        try:
            if digests or parsed_args.all:
                return asking.approve(self, self.conf(), nodes, digests)
            return self._list(nodes, parsed_args)
        except errors.AgentError as exc:
            hint = _hint(nodes, str(exc))
            if not hint:
                raise
            raise errors.ConfigError(f'{exc}{hint}') from exc

    def _list(
        self, nodes: tuple[str, ...], parsed_args: argparse.Namespace
    ) -> command.Reported:
        """Show the changes that wait; approve them if the person agrees."""
        conf = self.conf()
        data = asking.waiting_changes(self, conf, nodes)
        if not data['changes']:
            return data, _nothing(data), 0
        shown = [*waiting.lines(data, nodes)]
        stdin = self.app.stdin
        asks = stdin is not None and stdin.isatty()
        if parsed_args.format != 'text' or not asks:
            return data, '\n'.join(shown), 0
        refused = confirm.refused(self, shown, yes=False)
        if refused:
            return [], *refused
        return asking.approve(self, conf, nodes, [data['digest']])


def _nothing(data: waiting.Data) -> str:
    """Return that nothing waits, with the age of a daemon's list."""
    age = data.get('cycle_age')
    if age is None:
        return waiting.NOTHING
    return (
        f'{waiting.NOTHING}, as of the cycle that ended '
        f'{error_text.duration(age)} ago; "compute-agent sync" begins one now'
    )


def _hint(nodes: tuple[str, ...], said: str) -> str:
    """Return advice if a node that does not exist looks like half a digest."""
    half = [n for n in nodes if n in said and _BEGINNING.fullmatch(n.lower())]
    if not half:
        return ''
    return f'; if {half[0]} is the beginning of a digest, give all 16 digits'


def _divided(words: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the nodes and the digests."""
    digests = [w.lower() for w in words if _DIGEST.fullmatch(w.lower())]
    nodes = tuple(word for word in words if word.lower() not in digests)
    return nodes, digests
