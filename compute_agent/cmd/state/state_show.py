# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state show``: list the agent's record.

The command needs neither placement nor the driver. It reads a copy of the
state database, so it does not disturb a running daemon.
"""

import argparse
import contextlib
import dataclasses

from ...ownership.explanations import record_rows
from ...state import state as state_database
from ...state.values import node_record
from ..app import listing
from . import state


class StateShow(listing.Listing):
    """List the record: who created a provider, and who added or claims a name.

    There is a row for each provider and for each of its names. Names that
    this agent neither added nor claims are not recorded, so not listed.
    """

    COLUMNS = (
        'Node',
        'Provider',
        'UUID',
        'Kind',
        'Name',
        'Ours',
        'Created',
        'Claimed by',
        'Unconfirmed',
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE',
            help='The name or uuid of a node (default: the whole record).',
        )
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return one row for each provider and each name."""
        directory = state.state_path(self)
        opened = state_database.State.open_copy(directory)
        with contextlib.closing(opened):
            node = None
            if parsed_args.node is not None:
                node = node_record.find(opened.nodes.all(), parsed_args.node)
            accounts = opened.handover.accounts(node)
        rows = [
            tuple(
                list(value) if isinstance(value, tuple) else value
                for value in dataclasses.astuple(row)
            )
            for account in accounts
            for row in record_rows.rows(account)
        ]
        note = None if rows else f'the record in {directory} is empty'
        return rows, note, 0
