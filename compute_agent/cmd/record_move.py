# SPDX-License-Identifier: Apache-2.0
"""Moves a record between a state directory and a share, and makes the tables.

``state_migrate.py`` imports it when the command runs, because it needs the extra
``fleet``. A move holds the directory's lock and the share's lease.
"""

import contextlib
import dataclasses
import pathlib
import typing
from collections.abc import Iterator, Mapping

from oslo_config import cfg

from .. import error_text, errors
from ..fleet.database import connection, schema
from ..state import documents, state
from ..state.database import lock
from .app import command, configuration, confirm
from .wiring import sharing


def tables(
    asking: command.AgentCommand, conf: cfg.ConfigOpts, *, yes: bool
) -> command.Reported:
    """Make or migrate the tables.

    :param yes: do not ask
    :raises errors.AgentError: the database cannot be used
    """
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
        refused = confirm.refused(asking, [plan], yes=yes)
        if refused:
            return data, *refused
        schema.migrate(engine)
        return data, f'{place} has version {schema.head()} now', 0


def move(
    asking: command.AgentCommand,
    conf: cfg.ConfigOpts,
    directory: pathlib.Path,
    *,
    is_back: bool,
    yes: bool,
) -> command.Reported:
    """Move the record of a directory into a share, or back.

    :param yes: do not ask
    :raises errors.AgentError: a place cannot be used, or has no record to move
    """
    with _opened(conf, directory, is_back=is_back) as moving:
        data, plan = moving.data(), moving.plan()
        refused = confirm.refused(asking, [plan], yes=yes)
        if refused:
            return data, *refused
        moving.state.history.by = asking.actor
        moving.carry_out()
        return data, f'done: {plan}', 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Moving:
    """A record that moves.

    :ivar nodes: how many nodes it has
    :ivar documents: how many providers it has something about
    """

    state: state.State
    joined: sharing.Joined
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


def _of_share(joined: sharing.Joined) -> Mapping[str, str]:
    """Return the documents of a share; an empty database has none."""
    found = schema.version(joined.engine)
    if found is None:
        return {}
    schema.check(joined.engine, found)
    changes = joined.record.changed(0)
    return {k: v for k, v in changes.documents.items() if v is not None}
