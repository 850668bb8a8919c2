# SPDX-License-Identifier: Apache-2.0
"""Showing what will be done, and asking whether it shall be.

Without a terminal nobody can be asked, and only ``--yes`` is an answer.
"""

import argparse
from collections.abc import Sequence

from ... import error_text
from . import command


def add(parser: argparse.ArgumentParser) -> None:
    """Add the choice not to be asked."""
    parser.add_argument(
        '--yes',
        action='store_true',
        help='Do not ask. Needed where there is no terminal.',
    )


def refused(
    asked: command.AgentCommand, plan: Sequence[str], *, yes: bool
) -> tuple[str, int] | None:
    """Return None to go on, else what to print and the exit code."""
    if yes:
        return None
    lines = [*map(error_text.printable, plan)]
    stdin = asked.app.stdin  # None where the shell closed it
    if stdin is None or not stdin.isatty():
        asked.say('nothing was changed: --yes does it')
        return '\n'.join(lines), 1
    out = asked.app.stderr
    out.write('\n'.join([*lines, 'go on? [y/N] ']))
    out.flush()
    agreed = stdin.readline().strip().lower() in {'y', 'yes'}
    return None if agreed else ('nothing was changed', 0)
