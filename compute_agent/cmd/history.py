# SPDX-License-Identifier: Apache-2.0
"""``compute-agent history``: list what changed, when, by whom and why.

The command reads a copy of the state database and asks neither placement nor
the driver. The marks are those of a plan: + added, - removed, ~ changed. All
times are in UTC. A day is a span: ``--since`` takes its beginning, ``--until``
its end.
"""

import argparse
import datetime as dt
import json
import os
import pathlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from report_client.plan import render

from .. import error_text, errors
from ..plan.history_entry import OTHERS, Entry, KeptEntry
from ..state.database import schema
from ..tree.node import Node
from .app import configuration, listing, signals
from .wiring import agent_settings
from .wiring.opening import record_place, state_copy

_AGO = re.compile(r'(\d{1,6}) ?(m|min|h|d|w)')
_SECONDS = {'m': 60, 'min': 60, 'h': 3_600, 'd': 86_400, 'w': 604_800}
_FOLLOWED = 10  # entries that --follow begins with
_OFTEN = 1.0  # seconds between two looks at the state directory
_SELDOM = 5.0  # ... at a shared database
_LATE = 600.0  # seconds that the clocks of a share may differ
_DAYS = {'today': 0, 'yesterday': 1}
_WANTED = (
    'give "2h", "3d", "today", "yesterday", "2026-11-22" or '
    '"2026-11-22 10:30" (UTC)'
)


class History(listing.Listing):
    """List what changed: when, by whom, why, and the request's result.

    The command shows what the agent wrote and restored, and what other
    writers changed between two cycles: neither placement nor the agent knows
    who they are. It also shows approvals, outages, and the daemon's start and
    stop. It needs neither placement nor the driver, and works beside a daemon.
    """

    COLUMNS = (
        'Time',
        'Who',
        'Node',
        'Provider',
        'What',
        'Changes',
        'Why',
        'Result',
    )
    # What changed stays: a narrow table would else have only names.
    SPARE = ('Node', 'Why', 'Result', 'Who', 'What')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the subject, the times and the filters."""
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
        parser.add_argument(
            '--node',
            action='append',
            default=[],
            metavar='NODE',
            help='Only the entries about this node and the providers of its '
            'tree, given by name or uuid. May be repeated.',
        )
        parser.add_argument(
            '--limit',
            type=_limit,
            metavar='NUMBER',
            help='Only so many entries, the newest ones.',
        )
        parser.add_argument(
            '--follow',
            action='store_true',
            help='Print the last ten entries, or those of --limit, then each '
            'new one as it comes, a line for each, until Ctrl-C. With -f '
            'json, each line is an object.',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return a row for each entry, oldest first."""
        now, given = time.time(), parsed_args
        begin = since(given.since, now) if given.since else 0.0
        end = until(given.until, now) if given.until else None
        if given.follow:
            _check_follow(given)
        conf = configuration.load(self.app.global_options, local=True)
        with state_copy(conf) as opened:
            kept = opened.history.entries(begin, end)
            nodes = opened.nodes.all()
        found = _chosen(kept, given, nodes)
        limit = _FOLLOWED if given.follow else len(found)
        found = found[-(given.limit or limit) :]
        rows = entry_rows(found, node_names(kept, nodes))
        if given.follow:
            self._seen = _Seen(kept)
            return rows, None, 0
        note = (
            None
            if rows
            else f'the history in {record_place(conf)} has no such entry'
        )
        return rows, note, 0

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: listing.Rows,
    ) -> int:
        """Print the rows, and with --follow each new one until a signal."""
        if not parsed_args.follow:
            return super().produce_output(parsed_args, column_names, data)
        stop = signals.stop_on_signals()
        conf = configuration.load(self.app.global_options, local=True)
        self._print(parsed_args, data)
        state = _Changes(agent_settings.state_path(conf))
        is_shared = bool(conf.compute_agent.state_connection)
        while not stop.wait(_OFTEN if not is_shared else _SELDOM):
            if not (is_shared or state.have_come()):
                continue
            with state_copy(conf) as opened:
                every = opened.history.entries(self._seen.begin)
                nodes = opened.nodes.all()
            kept = self._seen.new(every)
            if kept:
                found = _chosen(kept, parsed_args, nodes, must_exist=False)
                names = node_names(every, nodes)
                self._print(parsed_args, entry_rows(found, names))
        return 0

    def _print(
        self, parsed_args: argparse.Namespace, rows: listing.Rows
    ) -> None:
        """Print each row as a line."""
        wanted = parsed_args.columns or self.COLUMNS
        out = self.app.stdout
        for row in rows:
            told = dict(zip(self.COLUMNS, row, strict=True))
            chosen = {name: told[name] for name in wanted}
            if parsed_args.formatter == 'json':
                out.write(f'{json.dumps(chosen)}\n')
            else:
                values = map(listing.in_a_line, chosen.values())
                out.write('  '.join(str(v) for v in values if v) + '\n')
        out.flush()


class _Seen:
    """The entries that were printed, or left out, so that none comes twice.

    The clocks of agents that share a history differ, so an entry may come a
    little later than a newer one.
    """

    def __init__(self, kept: Sequence[KeptEntry]) -> None:
        self._keys = dict.fromkeys(map(_key, kept))
        self._newest = max((one.at for one in kept), default=0.0)

    @property
    def begin(self) -> float:
        """The time from which on an entry may be new."""
        return max(0.0, self._newest - _LATE)

    def new(self, kept: Sequence[KeptEntry]) -> list[KeptEntry]:
        """Return the entries that are new since the last look."""
        found = [one for one in kept if _key(one) not in self._keys]
        self._newest = max([self._newest, *(one.at for one in found)])
        begin = self.begin
        keys = [*self._keys, *map(_key, found)]
        self._keys = dict.fromkeys(k for k in keys if k[0] >= begin)
        return found


class _Changes:
    """Tells if a state database was written, without reading it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._before: object = None

    def have_come(self) -> bool:
        """Return True if something was written since the last call."""
        now = [
            (file.name, found.st_size, found.st_mtime_ns, found.st_ino)
            for file in sorted(self._folder.glob(f'{schema.FILE_NAME}*'))
            if (found := _stat(file))
        ]
        before, self._before = self._before, now
        return now != before


def _stat(file: pathlib.Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:  # SQLite has just removed it
        return None


def _key(kept: KeptEntry) -> tuple[float, str]:
    return kept.at, repr(kept.entry)


def _check_follow(given: argparse.Namespace) -> None:
    """Refuse options that do not go with --follow.

    :raises errors.ConfigError: the command line has such an option
    """
    if given.until:
        raise errors.ConfigError(
            '--until has an end and --follow has none: give one of the two'
        )
    if given.formatter not in {'table', 'json', 'value'}:
        raise errors.ConfigError(
            f'--follow prints lines, or with -f json an object in each; it '
            f'has no -f {given.formatter}'
        )


def _limit(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(
            f'{error_text.excerpt(text)} is not a number above 0'
        )
    return int(text)


def _chosen(
    kept: Sequence[KeptEntry],
    given: argparse.Namespace,
    nodes: Sequence[Node],
    *,
    must_exist: bool = True,
) -> list[KeptEntry]:
    """Return the entries that the options ask for.

    :param must_exist: refuse a word that names no node and no provider
    """
    found = [
        one
        for one in kept
        if (one.entry.is_removal or not given.removals)
        and (one.entry.by == OTHERS or not given.by_others)
    ]

    def uuids(words: Sequence[str]) -> set[str]:
        every = (_uuids(w, kept, nodes, must_exist=must_exist) for w in words)
        return set().union(*every)

    if given.node:
        of_nodes = uuids(given.node)
        found = [one for one in found if one.entry.node_uuid in of_nodes]
    if given.subject is None:
        return found
    wanted = uuids([given.subject])
    return [
        one for one in found if {one.entry.uuid, one.entry.node_uuid} & wanted
    ]


def _uuids(
    word: str,
    kept: Sequence[KeptEntry],
    nodes: Sequence[Node],
    *,
    must_exist: bool,
) -> set[str]:
    """Return the uuids of the nodes and providers that a word names.

    :raises errors.ConfigError: no node and no provider has the name or uuid
    """
    wanted = {word, word.lower()}
    found = {n.uuid for n in nodes if wanted & {n.uuid, n.name, n.called}}
    for one in kept:
        entry = one.entry
        if wanted & {entry.uuid, entry.provider}:
            found.add(entry.uuid)
        if entry.node_uuid in wanted:
            found.add(entry.node_uuid)
    if must_exist and not found - {''}:
        known = {n.called for n in nodes}.union(o.entry.provider for o in kept)
        near = error_text.similar_hosts(word, sorted(known - {''}))
        hint = f'; did you mean {near[0]}?' if near else ''
        raise errors.ConfigError(
            f'the history of this time has no node or provider {word}{hint}'
        )
    return found - {''}


def node_names(
    kept: Sequence[KeptEntry], nodes: Sequence[Node]
) -> Mapping[str, str]:
    """Return the names of nodes; nodes that are gone have theirs, too."""
    gone = {
        one.entry.node_uuid: one.entry.provider
        for one in kept
        if one.entry.node_uuid == one.entry.uuid and one.entry.provider
    }
    return {**gone, **{node.uuid: node.called for node in nodes}}


def entry_rows(
    kept: Iterable[KeptEntry], nodes: Mapping[str, str]
) -> list[tuple[object, ...]]:
    """Return a row for each entry.

    :param nodes: the names of nodes by uuid
    """
    return [
        (
            shown(one.at),
            one.entry.by,
            nodes.get(one.entry.node_uuid, one.entry.node_uuid),
            one.entry.provider or one.entry.uuid,
            one.entry.what.value,
            [*marks(one.entry)],
            '; '.join(_why(one.entry)),
            one.entry.result.value,
        )
        for one in kept
    ]


def marks(entry: Entry) -> Iterator[str]:
    """Yield a mark for each name that changed."""
    for change in entry.changes:
        if change.kind is None:
            continue
        text = render.mark(change)
        if change.name in entry.restored:
            text += ' (restored)'
        yield text


def _why(entry: Entry) -> Iterator[str]:
    """Yield the notes on an entry: causes of removals, persons, and others."""
    causes: dict[str, list[str]] = {}
    for change in entry.changes:
        if change.cause is not None:
            causes.setdefault(str(change.cause), []).append(change.name)
    for cause, names in causes.items():
        is_of_all = len(names) == len(entry.changes)
        yield cause if is_of_all else f'{", ".join(names)}: {cause}'
    if entry.restored:
        yield 'it had been removed or changed'
    for person in sorted(set(entry.approved.values())):
        yield f'approved by {person}'
    if entry.text:
        yield entry.text


def since(text: str, now: float) -> float:
    """Return the beginning of a time, in seconds since the epoch.

    :raises errors.ConfigError: the text is no time
    """
    return _span(text, now)[0]


def until(text: str, now: float) -> float:
    """Return the end of a time, in seconds since the epoch.

    :raises errors.ConfigError: the text is no time
    """
    return _span(text, now)[1]


def shown(seconds: float) -> str:
    """Return a moment, such as ``2026-11-22 10:30:00Z``."""
    return f'{_moment(seconds):%Y-%m-%d %H:%M:%S}Z'


def _span(text: str, now: float) -> tuple[float, float]:
    words = text.strip().lower()
    ago = _AGO.fullmatch(words)
    if ago is not None:
        moment = now - int(ago[1]) * _SECONDS[ago[2]]
        return moment, moment
    if words in _DAYS:
        day = _moment(now).date() - dt.timedelta(days=_DAYS[words])
        return _day(day)
    try:
        return _written(text.strip())
    except (OverflowError, ValueError) as exc:
        raise errors.ConfigError(f'{text!r} is no time: {_WANTED}') from exc


def _written(text: str) -> tuple[float, float]:
    """Return the span of a date, or of a date and a time.

    :raises ValueError: the text is neither a date nor a date and a time
    """
    found = dt.datetime.fromisoformat(text)
    if len(text) == len('2026-11-22'):
        return _day(found.date())
    moment = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    return moment.timestamp(), moment.timestamp()


def _day(day: dt.date) -> tuple[float, float]:
    begin = dt.datetime.combine(day, dt.time(), dt.UTC)
    return begin.timestamp(), (begin + dt.timedelta(days=1)).timestamp()


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
