# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state …``: list the agent's record, and hand it over.

The commands need neither placement nor the driver. ``show`` reads a copy of
the state database, so it does not disturb a running daemon.
"""

import argparse
import contextlib
import dataclasses
import errno
import io
import json
import os
import pathlib
import typing

from .. import errors
from ..ownership.explanations import record_rows
from ..state import state
from ..state.database import lock
from ..state.values import node_record
from .app import command, configuration, listing
from .wiring import agent_settings

STDIN = '-'


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
        directory = state_path(self)
        opened = state.State.open_copy(directory)
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


class StateExport(command.AgentCommand):
    """Print the record of a node, for the agent that will report the node.

    The record says what this agent created and added, so that the other agent
    may remove it. It is JSON, for "state import" on the other host.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node', metavar='NODE', help='The name or uuid of the node.'
        )
        parser.add_argument(
            '--forget',
            action='store_true',
            help='Drop the record here after printing it, so that it does '
            'not count if the node returns. Redirect the output to a file: if '
            'the reader of a pipe fails, the record is lost.',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the record; with --forget, drop it."""
        directory = state_path(self)
        with contextlib.ExitStack() as stack:
            if parsed_args.forget:
                stack.enter_context(lock.hold(directory))
            with contextlib.closing(
                state.State.open_copy(directory)
            ) as opened:
                node = node_record.find(opened.nodes.all(), parsed_args.node)
                exported = opened.handover.export_record(node)
            self._print(exported)
            if parsed_args.forget:
                with contextlib.closing(state.State.open(directory)) as opened:
                    opened.history.by = self.actor
                    opened.handover.forget_with_record(node.uuid)
        return 0

    def _print(self, exported: node_record.NodeRecord) -> None:
        """Print a record; return when it is written (a file: on disk).

        :raises errors.Unavailable: the record could not be written
        """
        out = self.app.stdout
        try:
            json.dump(node_record.data(exported), out, indent=2)
            out.write('\n')
            out.flush()
            _to_disk(out)
        except BrokenPipeError:
            raise
        except OSError as exc:
            raise errors.Unavailable(
                f'the record could not be written ({exc.strerror}); it is '
                'kept here'
            ) from exc


class StateImport(command.Report):
    """Import the record of a node that another agent exported.

    From now on, this agent counts as the one that created and added what is
    in the record. Importing the same record again changes nothing.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the file."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file',
            nargs='?',
            default=STDIN,
            metavar='FILE',
            help='The output of "state export" (default: standard input).',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Import the record; return a summary of it."""
        directory = state_path(self)
        imported = _read(parsed_args.file, self.app.stdin)
        with (
            lock.hold(directory),
            contextlib.closing(state.State.open(directory)) as opened,
        ):
            opened.history.by = self.actor
            opened.handover.import_record(imported)
        return _data(imported), _text(imported), 0


def state_path(asking: command.AgentCommand) -> pathlib.Path:
    """Return the state directory; the options of placement are not read."""
    conf = configuration.load(asking.app.global_options, local=True)
    return agent_settings.state_path(conf)


def _to_disk(out: typing.TextIO) -> None:
    """Flush a file to disk; a pipe and a terminal have no disk."""
    try:
        os.fsync(out.fileno())
    except io.UnsupportedOperation:
        return
    except OSError as exc:
        if exc.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EROFS}:
            raise


def _read(name: str, stdin: typing.TextIO) -> node_record.NodeRecord:
    """Return the record in a file.

    :raises errors.ConfigError: it cannot be read, or is not a record
    """
    where = 'standard input' if name == STDIN else name
    try:
        content = (
            stdin.buffer.read()
            if name == STDIN
            else pathlib.Path(name).read_bytes()
        )
        if not content.strip():
            raise errors.ConfigError('it is empty; check if the export failed')
        return node_record.from_data(json.loads(content))
    except OSError as exc:
        why = f'it cannot be read: {exc.strerror}'
    except (RecursionError, ValueError) as exc:
        why = f'it is not JSON ({exc}); {node_record.WANTED}'
    except errors.AgentError as exc:
        why = str(exc)
    raise errors.ConfigError(f'{where}: {why}')


def _data(imported: node_record.NodeRecord) -> dict[str, typing.Any]:
    record = imported.record
    return {
        'node': imported.node.called,
        'uuid': imported.node.uuid,
        'providers': len(imported.providers),
        'created': len(record.created),
        'added': sum(len(names) for names in record.ours.values()),
    }


def _text(imported: node_record.NodeRecord) -> str:
    record = imported.record
    lines = [f'imported the record of {imported.node}']
    for uuid in imported.providers:
        added = sorted(
            name
            for (provider, _), names in record.ours.items()
            for name in names
            if provider == uuid
        )
        done = ['created'] if uuid in record.created else []
        done += [f'added {", ".join(added)}'] if added else []
        lines.append(f'  {uuid}: {"; ".join(done) or "nothing added"}')
    return '\n'.join(lines)
