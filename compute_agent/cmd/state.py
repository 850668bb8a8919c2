# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state …``: list the agent's record, and hand it over.

The commands do not need the driver, and only ``import`` asks placement.
``show`` reads a copy of the state database, so it does not disturb a running
daemon.
"""

import argparse
import contextlib
import dataclasses
import errno
import functools
import io
import json
import os
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence

from oslo_config import cfg

from .. import errors, file_trust
from ..ownership.explanations import record_rows
from ..ownership.record import Record
from ..state import state
from ..state.database import lock
from ..state.values import node_record
from ..tree.node import Node
from .app import command, configuration, confirm, listing
from .control import asking as asks
from .control import between_cycles, client, protocol
from .wiring import agent_settings
from .wiring.opening import open_agent, record_place, state_copy

STDIN = '-'
LARGEST = 256_000_000  # bytes of an export; a node has some kilobytes
_MEANING = (
    'this agent may then delete the providers that are "created", and remove '
    'what is "added"'
)


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
    # The names stay: a narrow table would else have only their providers.
    SPARE = ('UUID', 'Unconfirmed', 'Node', 'Created', 'Claimed by', 'Ours')

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the node."""
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE',
            help='The name or uuid of a node (default: the whole record).',
        )

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return one row for each provider and each name."""
        conf = _local(self)
        with state_copy(conf) as opened:
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
        empty = f'the record in {record_place(conf)} is empty'
        note = None if rows else empty
        return rows, note, 0


class StateExport(command.AgentCommand):
    """Print the records of nodes, for the agent that will report them.

    A record says what this agent created and added, so that the other agent
    may remove it. The output is JSON, for "state import" on the other host.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes."""
        parser.add_argument(
            'nodes',
            nargs='*',
            metavar='NODE',
            help='The names or uuids of the nodes.',
        )
        parser.add_argument(
            '--all',
            action='store_true',
            help='Print the records of all nodes of this agent.',
        )
        parser.add_argument(
            '--forget',
            action='store_true',
            help='Drop the records here after printing them, so that they do '
            'not count if a node returns. Redirect the output to a file: if '
            'the reader of a pipe fails, the records are lost.',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the records; with --forget, drop them."""
        if bool(parsed_args.nodes) == parsed_args.all:
            raise errors.ConfigError('name the nodes, or give --all')
        conf = _local(self)
        if not parsed_args.forget:
            with state_copy(conf) as opened:
                records = between_cycles.Records(opened)
                self._print(records.export(parsed_args.nodes))
            return 0
        with _records(self, conf) as there:
            exported = there.export(parsed_args.nodes)
            self._print(exported)
            there.forget(exported)
        return 0

    def _print(self, exported: Sequence[node_record.NodeRecord]) -> None:
        """Print records; return when they are written (a file: on disk).

        :raises errors.Unavailable: they could not be written
        """
        out = self.app.stdout
        try:
            json.dump([*map(node_record.data, exported)], out, indent=2)
            out.write('\n')
            out.flush()
            _to_disk(out)
        except BrokenPipeError:
            raise
        except OSError as exc:
            raise errors.Unavailable(
                f'the records could not be written ({exc.strerror}); they are '
                'kept here'
            ) from exc


class StateImport(command.Report):
    """Import the records of nodes that another agent exported.

    From now on, this agent counts as the one that created and added what is
    in the records, so it may remove that. Only providers that placement has in
    a node's own tree are imported. The command shows them all, and asks once;
    if one record cannot be imported, none is. Importing the same record again
    changes nothing.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the files."""
        parser.add_argument(
            'files',
            nargs='*',
            default=[STDIN],
            metavar='FILE',
            help='The output of "state export", of one or more nodes each '
            '(default: standard input, which needs --yes).',
        )
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Show the records, ask, and import them; return a summary of each."""
        given = [
            record
            for file in parsed_args.files
            for record in _read(file, self.app.stdin)
        ]
        conf = self.conf()
        with _records(self, conf) as there:
            trees = _trees(conf, [one.node for one in given])
            data = [*map(_data, given, trees)]
            shown = [*_text('imports', given, trees), _MEANING]
            refused = confirm.refused(self, shown, yes=parsed_args.yes)
            if refused:
                return data, *refused
            there.add([*map(node_record.within, given, trees)])
        return data, '\n'.join(_text('imported', given, trees)), 0


def _local(asking: command.AgentCommand) -> cfg.ConfigOpts:
    """Return the configuration; the options of placement are not read."""
    return configuration.load(asking.app.global_options, local=True)


@contextlib.contextmanager
def _records(
    asking: command.AgentCommand, conf: cfg.ConfigOpts
) -> Iterator['_OfDaemon | _Here']:
    """Yield the records of nodes, from the process that may change them.

    A daemon changes them between two cycles: that of this machine or, for a
    share, that of the agent that reports. Without such a daemon, this process
    changes them.

    :raises errors.AgentError: neither the daemon nor this process can do it
    """
    if asks.has_daemon(conf):
        yield _OfDaemon(asking, conf)
        return
    directory = agent_settings.state_path(conf)
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock.hold_as_owner(directory))
        yield _Here(asking, conf, stack)


class _OfDaemon:
    """The records of a daemon, which exports, imports and forgets them."""

    def __init__(
        self, asking: command.AgentCommand, conf: cfg.ConfigOpts
    ) -> None:
        self._asking = asking
        self._conf = conf

    def export(self, words: Sequence[str]) -> list[node_record.NodeRecord]:
        data = self._ask(protocol.Command.EXPORT, nodes=tuple(words))
        return [*map(node_record.from_data, data['records'])]

    def forget(self, exported: Sequence[node_record.NodeRecord]) -> None:
        self._ask(
            protocol.Command.FORGET,
            nodes=tuple(one.node.uuid for one in exported),
            digests=tuple(map(between_cycles.digest, exported)),
        )

    def add(self, given: Sequence[node_record.NodeRecord]) -> None:
        self._ask(
            protocol.Command.IMPORT,
            records=json.dumps([*map(node_record.data, given)]),
        )

    def _ask(
        self, what: protocol.Command, **fields: typing.Any
    ) -> dict[str, typing.Any]:
        request = protocol.Request(
            command=what, person=client.person(), **fields
        )
        *_, last = asks.answers(self._asking, self._conf, request)
        return last.data


class _Here:
    """The records of this host or, under its lease, of its share."""

    def __init__(
        self,
        asking: command.AgentCommand,
        conf: cfg.ConfigOpts,
        stack: contextlib.ExitStack,
    ) -> None:
        self._asking = asking
        self._conf = conf
        self._stack = stack

    def export(self, words: Sequence[str]) -> list[node_record.NodeRecord]:
        if self._conf.compute_agent.state_connection:
            return self._opened.export(words)
        with state_copy(self._conf) as copy:
            return between_cycles.Records(copy).export(words)

    def forget(self, exported: Sequence[node_record.NodeRecord]) -> None:
        self._opened.forget(
            [one.node.uuid for one in exported],
            [*map(between_cycles.digest, exported)],
            self._asking.actor,
        )

    def add(self, given: Sequence[node_record.NodeRecord]) -> None:
        self._opened.add(given, self._asking.actor)

    @functools.cached_property
    def _opened(self) -> between_cycles.Records:
        conf = self._conf
        if not conf.compute_agent.state_connection:
            directory = agent_settings.state_path(conf)
            opened = self._stack.enter_context(
                contextlib.closing(state.State.open(directory))
            )
            return between_cycles.Records(opened)
        agent = self._stack.enter_context(
            open_agent(
                self._asking.conf(),
                read_only=False,
                describes=False,
                by=self._asking.actor,
            )
        )
        return between_cycles.Records(agent.state)


def _to_disk(out: typing.TextIO) -> None:
    """Flush a file to disk; a pipe and a terminal have no disk."""
    try:
        os.fsync(out.fileno())
    except io.UnsupportedOperation:
        return
    except OSError as exc:
        if exc.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EROFS}:
            raise


def _read(name: str, stdin: typing.TextIO) -> list[node_record.NodeRecord]:
    """Return the records in a file.

    :raises errors.ConfigError: the file cannot be read, or has no records
    """
    where = 'standard input' if name == STDIN else name
    try:
        content = (
            stdin.buffer.read(LARGEST)
            if name == STDIN
            else file_trust.read(name, LARGEST, named=True)
        )
        if not content.strip():
            raise errors.ConfigError('it is empty; check if the export failed')
        return between_cycles.read(content)
    except OSError as exc:
        why = f'it cannot be read: {exc.strerror}'
    except errors.AgentError as exc:
        why = str(exc)
    raise errors.ConfigError(f'{where}: {why}')


def _trees(
    conf: cfg.ConfigOpts, nodes: Iterable[Node]
) -> list[Mapping[str, str]]:
    """Return the providers in each node's tree in placement: uuid → name.

    :raises errors.ConfigError: a node's provider is no root in placement
    """
    from .wiring import named_providers, placement  # noqa: PLC0415 (heavy)

    providers = named_providers.providers_of(conf)
    where, found = placement.where(conf), list[Mapping[str, str]]()
    for node in nodes:
        rows = providers.tree(node)
        if not rows:
            raise errors.ConfigError(
                f'nothing was imported: {where} has no provider {node}, so '
                'there is nothing of it to take over'
            )
        root = rows[0].root_uuid
        if root != node.uuid:
            raise errors.ConfigError(
                f'nothing was imported: the provider {node} is in the tree of '
                f'{root} at {where}, and only the record of a root can be '
                'imported: give the record of that node'
            )
        found.append({row.uuid: row.name for row in rows})
    return found


def _data(
    given: node_record.NodeRecord, tree: Mapping[str, str]
) -> dict[str, typing.Any]:
    imported = node_record.within(given, tree)
    record = imported.record
    return {
        'node': given.node.called,
        'uuid': given.node.uuid,
        'providers': len(imported.providers),
        'created': len(record.created),
        'added': sum(len(names) for names in record.ours.values()),
        'left_out': [uuid for uuid in given.providers if uuid not in tree],
    }


def _text(
    verb: str,
    given: Iterable[node_record.NodeRecord],
    trees: Iterable[Mapping[str, str]],
) -> Iterator[str]:
    """Yield a line for each node, and one for each provider of its record."""
    for one, tree in zip(given, trees, strict=True):
        yield f'{verb} the record of {one.node}'
        for uuid in one.providers:
            yield f'  {_about(uuid, one.record, tree)}'


def _about(uuid: str, record: Record, tree: Mapping[str, str]) -> str:
    """Return the line about a provider of a node's record."""
    if uuid not in tree:
        return (
            f"left out: {uuid}, which is not in this node's tree in placement"
        )
    added = sorted(
        name
        for (provider, _), names in record.ours.items()
        for name in names
        if provider == uuid
    )
    done = ['created'] if uuid in record.created else []
    done += [f'added {", ".join(added)}'] if added else []
    return f'{tree[uuid]} ({uuid}): {"; ".join(done) or "nothing added"}'
