# SPDX-License-Identifier: Apache-2.0
"""Show a plan to the operator, and ask for confirmation.

Without a terminal the command cannot ask; then only ``--yes`` confirms.
"""

import argparse
from collections.abc import Sequence

from ... import error_text
from . import command


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that confirms in advance."""
    parser.add_argument(
        '--yes',
        action='store_true',
        help='Do not ask. Required if there is no terminal.',
    )


def refused(
    asking: command.AgentCommand, plan: Sequence[str], *, yes: bool
) -> tuple[str, int] | None:
    """Return None if the person agrees, else the text and the exit code."""
    if yes:
        return None
    lines = [*map(error_text.printable, plan)]
    stdin = asking.app.stdin  # None if the shell closed it
    if stdin is None or not stdin.isatty():
        asking.say(
            'nothing was changed: there is no terminal to ask at; add --yes '
            'to go on'
        )
        return '\n'.join(lines), 1
    out = asking.app.stderr
    out.write('\n'.join([*lines, 'go on? [y/N] ']))
    out.flush()
    agreed = stdin.readline().strip().lower() in {'y', 'yes'}
    return None if agreed else ('nothing was changed', 0)
