# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state show``: what this agent recorded, to look at.

Neither placement nor the driver is needed, and a daemon at work is not
disturbed: a copy of its state database is looked at.
"""

import argparse
import contextlib
import dataclasses

from ..app import listing
from . import state


class StateShow(listing.Listing):
    """List what is recorded: who created, added and holds what.

    A row for each provider and for each name on it. What another put there
    and no source of this agent asserts is not recorded, and not listed.
    """

    COLUMNS = (
        'Node',
        'Provider',
        'UUID',
        'Kind',
        'Name',
        'Ours',
        'Created',
        'Held by',
        'Unconfirmed',
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE',
            help="A node's name or uuid (default: all that is recorded).",
        )
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each provider and each name."""
        from ...ownership import record_rows  # noqa: PLC0415 (quick --help)
        from ...state import handover  # noqa: PLC0415 (quick --help)
        from ...state import state as state_database  # noqa: PLC0415

        directory = state.state_path(self)
        with contextlib.closing(state_database.State.look(directory)) as seen:
            node = None
            if parsed_args.node is not None:
                node = handover.find(seen.nodes.all(), parsed_args.node)
            accounts = seen.nodes.accounts(node)
        rows = [
            tuple(
                list(value) if isinstance(value, tuple) else value
                for value in dataclasses.astuple(row)
            )
            for account in accounts
            for row in record_rows.rows(account)
        ]
        note = None if rows else f'nothing is recorded in {directory}'
        return rows, note, 0
