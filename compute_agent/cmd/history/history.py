# SPDX-License-Identifier: Apache-2.0
"""``compute-agent history``: list what changed, when, by whom and why."""

import argparse
import contextlib
import time
from collections.abc import Mapping, Sequence

from ... import errors
from ...plan.history_entry import OTHERS, KeptEntry
from ...state import state
from ...tree.node import Node
from ..app import configuration, listing
from ..wiring import agent_settings
from . import history_view, moments


class History(listing.Listing):
    """List what changed: when, by whom, why, and the request's result.

    The command shows what the agent wrote and restored, and what other
    writers changed between two cycles: neither placement nor the agent knows
    who they are. It also shows approvals, outages, and the daemon's start and
    stop. It needs neither placement nor the driver, and works beside a daemon.
    """

    COLUMNS = history_view.COLUMNS

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the subject, the times and the filters."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'subject',
            nargs='?',
            metavar='NODE|PROVIDER',
            help='Only the entries about this node or provider, given by name '
            'or uuid (default: all entries).',
        )
        parser.add_argument(
            '--since',
            metavar='TIME',
            help='Only entries from this time on: "2h", "3d", "yesterday", '
            '"2026-11-22" or "2026-11-22 10:30", in UTC.',
        )
        parser.add_argument(
            '--until',
            metavar='TIME',
            help='Only entries before the end of this time, written in the '
            'same way: "--since yesterday --until yesterday" is one day.',
        )
        parser.add_argument(
            '--removals',
            action='store_true',
            help='Only entries in which a name or a provider is removed.',
        )
        parser.add_argument(
            '--by-others',
            action='store_true',
            help='Only changes of other writers.',
        )
        return parser

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return a row for each entry, oldest first."""
        now, given = time.time(), parsed_args
        begin = moments.since(given.since, now) if given.since else 0.0
        end = moments.until(given.until, now) if given.until else None
        conf = configuration.load(self.app.global_options, local=True)
        directory = agent_settings.state_path(conf)
        with contextlib.closing(state.State.open_copy(directory)) as opened:
            kept = opened.history.entries(begin, end)
            nodes = opened.nodes.all()
        found = _chosen(kept, given, nodes)
        rows = history_view.rows(found, _names(kept, nodes))
        note = (
            None if rows else f'the history in {directory} has no such entry'
        )
        return rows, note, 0


def _chosen(
    kept: Sequence[KeptEntry],
    given: argparse.Namespace,
    nodes: Sequence[Node],
) -> list[KeptEntry]:
    """Return the entries that the options ask for."""
    found = [
        one
        for one in kept
        if (one.entry.is_removal or not given.removals)
        and (one.entry.by == OTHERS or not given.by_others)
    ]
    if given.subject is None:
        return found
    uuids = _uuids(given.subject, kept, nodes)
    return [
        one for one in found if {one.entry.uuid, one.entry.node_uuid} & uuids
    ]


def _uuids(
    word: str, kept: Sequence[KeptEntry], nodes: Sequence[Node]
) -> set[str]:
    """Return the uuids of the nodes and providers that a word names.

    :raises errors.ConfigError: it names none
    """
    wanted = {word, word.lower()}
    found = {n.uuid for n in nodes if wanted & {n.uuid, n.name, n.called}}
    for one in kept:
        entry = one.entry
        if wanted & {entry.uuid, entry.provider}:
            found.add(entry.uuid)
        if entry.node_uuid in wanted:
            found.add(entry.node_uuid)
    if not found - {''}:
        raise errors.ConfigError(
            f'the history of this time has no node or provider {word}'
        )
    return found - {''}


def _names(
    kept: Sequence[KeptEntry], nodes: Sequence[Node]
) -> Mapping[str, str]:
    """Return the names of nodes, also of those that are gone."""
    gone = {
        one.entry.node_uuid: one.entry.provider
        for one in kept
        if one.entry.node_uuid == one.entry.uuid and one.entry.provider
    }
    return {**gone, **{node.uuid: node.called for node in nodes}}
