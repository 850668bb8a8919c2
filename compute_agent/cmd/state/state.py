# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state export|import``: a node's record changes its agent.

Neither placement nor the driver is needed: only the state database is read and
written.
"""

import argparse
import contextlib
import errno
import io
import json
import os
import pathlib
import typing

from ... import errors
from ..app import command, configuration

if typing.TYPE_CHECKING:
    from ...state import handover

STDIN = '-'


class StateExport(command.AgentCommand):
    """Print the record of a node, for the agent that reports it from now on.

    It tells what this agent created and added, so that the other one may
    remove it. Printed as JSON; "state import" reads it there.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node', metavar='NODE', help="A node's name or uuid."
        )
        parser.add_argument(
            '--forget',
            action='store_true',
            help='Drop the record here once it is printed, so that the node '
            'is not judged by it should it come back. Print it to a file: a '
            'pipe whose reader fails loses it.',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the record; drop it if asked to."""
        from ...state import handover, lock, state  # noqa: PLC0415 (quick --help)

        directory = state_path(self)
        with contextlib.ExitStack() as stack:
            if parsed_args.forget:
                stack.enter_context(lock.hold(directory))
            with contextlib.closing(state.State.look(directory)) as seen:
                node = handover.find(seen.nodes.all(), parsed_args.node)
                handed = seen.nodes.export_record(node)
            self._print(handed)
            if parsed_args.forget:
                with contextlib.closing(state.State.open(directory)) as kept:
                    kept.nodes.forget_with_record(node.uuid)
        return 0

    def _print(self, handed: 'handover.NodeRecord') -> None:
        """Print a record; return when whoever takes it has all of it.

        :raises errors.Unavailable: it could not be written
        """
        from ...state import handover  # noqa: PLC0415 (quick --help)

        out = self.app.stdout
        try:
            json.dump(handover.data(handed), out, indent=2)
            out.write('\n')
            out.flush()
            _to_disk(out)
        except BrokenPipeError:
            raise
        except OSError as exc:
            raise errors.Unavailable(
                f'the record could not be written ({exc.strerror}); nothing '
                'was dropped here'
            ) from exc


class StateImport(command.Report):
    """Add the record of a node that another agent exported.

    What that agent created and added counts as this one's from now on. To
    import the same again changes nothing.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the file."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file',
            nargs='?',
            default=STDIN,
            metavar='FILE',
            help='What "state export" printed (default: standard input).',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Take the record; return what there is in it."""
        from ...state import lock, state  # noqa: PLC0415 (quick --help)

        directory = state_path(self)
        handed = _read(parsed_args.file, self.app.stdin)
        with (
            lock.hold(directory),
            contextlib.closing(state.State.open(directory)) as kept,
        ):
            kept.nodes.import_record(handed)
        return _data(handed), _text(handed), 0


def state_path(asked: command.AgentCommand) -> pathlib.Path:
    """Return the state directory, from configuration without placement's."""
    conf = configuration.load(asked.app.global_options, local=True)
    return pathlib.Path(conf.state_path).absolute()


def _to_disk(out: typing.TextIO) -> None:
    """Have a file on its disk; a pipe or a terminal has none."""
    try:
        os.fsync(out.fileno())
    except io.UnsupportedOperation:
        return
    except OSError as exc:
        if exc.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EROFS}:
            raise


def _read(name: str, stdin: typing.TextIO) -> 'handover.NodeRecord':
    """Return the record in a file.

    :raises errors.ConfigError: it cannot be read, or is none
    """
    from ...state import handover  # noqa: PLC0415 (quick --help)

    where = 'standard input' if name == STDIN else name
    try:
        content = (
            stdin.buffer.read()
            if name == STDIN
            else pathlib.Path(name).read_bytes()
        )
        if not content.strip():
            raise errors.ConfigError('it is empty: did the export fail?')
        return handover.from_data(json.loads(content))
    except OSError as exc:
        why = f'it cannot be read: {exc.strerror}'
    except (RecursionError, ValueError) as exc:
        why = f'it is no JSON ({exc}); {handover.WANTED}'
    except errors.AgentError as exc:
        why = str(exc)
    raise errors.ConfigError(f'{where}: {why}')


def _data(handed: 'handover.NodeRecord') -> dict[str, typing.Any]:
    record = handed.record
    return {
        'node': handed.node.called,
        'uuid': handed.node.uuid,
        'providers': len(handed.providers),
        'created': len(record.created),
        'added': sum(len(some) for some in record.ours.values()),
    }


def _text(handed: 'handover.NodeRecord') -> str:
    record = handed.record
    lines = [f'took the record of {handed.node}']
    for uuid in handed.providers:
        added = sorted(
            name
            for (owner, _), some in record.ours.items()
            for name in some
            if owner == uuid
        )
        done = ['created'] if uuid in record.created else []
        done += [f'added {", ".join(added)}'] if added else []
        lines.append(f'  {uuid}: {"; ".join(done) or "nothing added"}')
    return '\n'.join(lines)
