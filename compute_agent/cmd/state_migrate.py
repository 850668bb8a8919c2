# SPDX-License-Identifier: Apache-2.0
"""``compute-agent state migrate``: moves a record to a shared database, and back.

Without a record to move, it makes the tables of the database.

A record moves as a whole, and is in one place afterwards: a share that a
directory took back is empty, and a directory whose record moved into a database
follows that. The command holds the directory's lock and the share's lease
meanwhile.
"""

import argparse
import contextlib
import dataclasses
import pathlib
import re
import typing
from collections.abc import Iterator, Mapping

from oslo_config import cfg

from .. import error_text, errors
from ..state import documents, state
from ..state.database import lock
from .app import command, configuration, confirm

if typing.TYPE_CHECKING:
    from .wiring import sharing

_GROUP = 'compute_agent'
_PASSWORD = re.compile(r'://[^/]*:[^/]*@')


class StateMigrate(command.Report):
    """Make the tables of the shared database, or move a record there or back.

    Without --from and --to, the tables of [compute_agent] state_connection are
    made, or migrated to this version. With them, the record of a state
    directory moves into a shared database, or the record of a share moves into
    a state directory. The command shows what it would do, and asks. No daemon
    of the share may run.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the two places, and the share."""
        parser.add_argument(
            '--from',
            dest='source',
            metavar='DIR|URL',
            help='Where the record is: a state directory, or the URL of a '
            'shared database (default: [compute_agent] state_connection).',
        )
        parser.add_argument(
            '--to',
            dest='target',
            metavar='DIR|URL',
            help='Where it shall be: the other one of the two (default: '
            '[compute_agent] state_connection).',
        )
        parser.add_argument(
            '--share',
            help='The share (default: [compute_agent] share, or the driver '
            'with its filter).',
        )
        confirm.add_option(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Show the plan, ask, and carry it out."""
        conf = configuration.load(self.app.global_options, local=True)
        places = [parsed_args.source, parsed_args.target]
        directories = [p for p in places if p is not None and '://' not in p]
        urls = [p for p in places if p is not None and '://' in p]
        if any(_PASSWORD.search(url) for url in urls):
            raise errors.ConfigError(
                'everybody on this host sees the password in the arguments of '
                'a command: set [compute_agent] state_connection, and leave '
                'the URL out'
            )
        if len(directories) > 1 or len(urls) > 1:
            raise errors.ConfigError(
                'a record moves between a state directory and a shared '
                'database: give a directory (DIR) and a URL (with "://")'
            )
        for name, value in (
            ('state_connection', urls and urls[0]),
            ('share', parsed_args.share),
        ):
            if value:
                conf.set_override(name, value, _GROUP)
        if not conf.compute_agent.state_connection:
            raise errors.ConfigError(
                'no shared database is configured: set [compute_agent] '
                'state_connection, or give a URL'
            )
        if not directories:
            return self._tables(conf, yes=parsed_args.yes)
        directory = pathlib.Path(directories[0])
        return self._move(
            conf,
            directory,
            is_back=parsed_args.target == directories[0],
            yes=parsed_args.yes,
        )

    def _tables(self, conf: cfg.ConfigOpts, *, yes: bool) -> command.Reported:
        """Make or migrate the tables."""
        from ..fleet.database import connection, schema  # noqa: PLC0415 (extra)

        engine = connection.engine(conf.compute_agent.state_connection)
        with contextlib.ExitStack() as stack:
            stack.callback(engine.dispose)
            found, place = schema.version(engine), connection.place(engine)
            data = {'place': place, 'from': found, 'to': schema.head()}
            schema.refuse_newer(engine, found)
            if found == schema.head():
                return data, f'{place} has version {found} already', 0
            plan = (
                f'makes the tables of version {schema.head()} in {place}'
                if not found
                else f'migrates {place} from version {found} to '
                f'{schema.head()}: stop all agents that use it'
            )
            refused = confirm.refused(self, [plan], yes=yes)
            if refused:
                return data, *refused
            schema.migrate(engine)
            return data, f'{place} has version {schema.head()} now', 0

    def _move(
        self,
        conf: cfg.ConfigOpts,
        directory: pathlib.Path,
        *,
        is_back: bool,
        yes: bool,
    ) -> command.Reported:
        """Move the record of a directory into a share, or back."""
        with _opened(conf, directory, is_back=is_back) as moving:
            data, plan = moving.data(), moving.plan()
            refused = confirm.refused(self, [plan], yes=yes)
            if refused:
                return data, *refused
            moving.state.history.by = self.actor
            moving.carry_out()
            return data, f'done: {plan}', 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Moving:
    """A record that moves.

    :ivar nodes: how many nodes it has
    :ivar documents: how many providers it has something about
    """

    state: state.State
    joined: 'sharing.Joined'
    directory: pathlib.Path
    is_back: bool
    nodes: int
    documents: int

    def data(self) -> dict[str, typing.Any]:
        """Return the plan as data."""
        places = [str(self.directory), self.joined.place]
        source, target = reversed(places) if self.is_back else places
        return {
            'from': source,
            'to': target,
            'nodes': self.nodes,
            'providers': self.documents,
        }

    def plan(self) -> str:
        """Return the plan as a line."""
        data = self.data()
        return (
            f'moves the record of {error_text.counted(self.nodes, "node")} '
            f'({error_text.counted(self.documents, "provider")}) from '
            f'{data["from"]} to {data["to"]}'
        )

    def carry_out(self) -> None:
        """Move the record under the lease of the share."""
        from .wiring import sharing  # noqa: PLC0415 (needs the extra "fleet")

        shared = sharing.Sharing(self.joined, self.state, lambda: None)
        with shared.held(bool if self.is_back else self.state.part):
            epoch = self.joined.membership.epoch
            if self.is_back and epoch is not None:
                self.state.part()
                self.joined.record.clear(epoch)


@contextlib.contextmanager
def _opened(
    conf: cfg.ConfigOpts, directory: pathlib.Path, *, is_back: bool
) -> Iterator[_Moving]:
    """Open both places, and refuse to overwrite a record.

    :raises errors.ConfigError: the target has a record already, or the source
        has none
    """
    with contextlib.ExitStack() as stack:
        drivers = configuration.load_drivers(conf)
        for one in drivers:
            stack.callback(one.close)
        from .wiring import sharing  # noqa: PLC0415 (needs the extra "fleet")

        stack.enter_context(lock.hold_as_owner(directory))
        joined = stack.enter_context(
            sharing.joined(conf, drivers, stands_by=False)
        )
        opened = stack.enter_context(
            contextlib.closing(state.State.open(directory))
        )
        mine = opened.documents()
        theirs = _of_share(joined)
        running = sharing.running(conf, joined.membership.share)
        if running:
            raise errors.ConfigError(
                f'agents of the share run: {", ".join(running)}; stop them, so '
                'that none takes the share meanwhile'
            )
        source, target = (theirs, mine) if is_back else (mine, theirs)
        names = [str(directory), joined.place]
        here, there = reversed(names) if is_back else names
        if not source:
            raise errors.ConfigError(f'{here} has no record to move')
        is_copy = is_back and opened.place == joined.place
        if target and target != source and not is_copy:
            raise errors.ConfigError(
                f'{there} has a record already, and nothing of it may be lost: '
                'give another directory or --share'
            )
        yield _Moving(
            state=opened,
            joined=joined,
            directory=directory,
            is_back=is_back,
            nodes=documents.count_nodes(source),
            documents=len(source.keys() - {documents.OF_NO_PROVIDER}),
        )


def _of_share(joined: 'sharing.Joined') -> Mapping[str, str]:
    """Return the documents of a share; an empty database has none."""
    from ..fleet.database import schema  # noqa: PLC0415 (needs the extra)

    found = schema.version(joined.engine)
    if found is None:
        return {}
    schema.check(joined.engine, found)
    changes = joined.record.changed(0)
    return {k: v for k, v in changes.documents.items() if v is not None}
