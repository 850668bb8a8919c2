# SPDX-License-Identifier: Apache-2.0
"""The version of the shared database: makes, migrates and checks its tables.

A daemon makes the tables of an empty database and leaves every other one as it
is; ``compute-agent state migrate`` migrates.
"""

import pathlib
import time

import sqlalchemy as sa
from alembic import command, config, script
from alembic.runtime import migration

from ... import errors
from . import connection, tables

VERSION_TABLE = 'compute_agent_version'
_STEPS = pathlib.Path(__file__).with_name('migrations')
_MAKING = 10.0  # seconds for which another agent may make the tables
_MIGRATE = 'compute-agent state migrate'


def head() -> str:
    """Return the version that this agent reads and writes."""
    (newest,) = _scripts().get_heads()
    return newest


def version(made: sa.Engine) -> str | None:
    """Return the version of a database; None if it is empty.

    :raises errors.ConfigError: another program's tables are in it, or the
        account is wrong
    :raises errors.Unavailable: the database does not answer
    """
    try:
        with made.connect() as db:
            return _version(db, made)
    except connection.FAILURES as exc:
        raise connection.explained(made, exc) from exc


def identity(made: sa.Engine) -> str:
    """Return the random name that a database got when it was made.

    :raises errors.Unavailable: the database does not answer
    """
    query = sa.select(tables.IDENTITY.c.name)
    return connection.run_again(
        made, lambda db: str(db.execute(query).scalar_one())
    )


def migrate(made: sa.Engine) -> None:
    """Make the tables, or migrate them; nothing is lost.

    :raises: the same errors as ``version``
    """
    refuse_newer(made, version(made))
    try:
        with made.begin() as db:
            settings = _config()
            settings.attributes['connection'] = db
            command.upgrade(settings, 'head')
    except connection.FAILURES as exc:
        raise connection.explained(made, exc) from exc


def prepare(made: sa.Engine) -> None:
    """Make the tables of an empty database; check those of any other.

    Another agent may do the same at this moment.

    :raises errors.ConfigError: the version is not this agent's
    :raises: the same errors as ``version``
    """
    deadline = time.monotonic() + _MAKING
    while (found := version(made)) in {None, ''}:
        if found is None:
            try:
                migrate(made)
            except errors.Unavailable:
                if time.monotonic() > deadline:
                    raise
        elif time.monotonic() > deadline:
            raise errors.ConfigError(
                f'the tables of the shared database {connection.place(made)} '
                f'are incomplete: run "{_MIGRATE}"'
            )
        else:
            time.sleep(0.1)
    check(made, found)


def check(made: sa.Engine, found: str | None) -> None:
    """Check that a database has the version that this agent uses.

    :raises errors.ConfigError: the database has another version
    """
    refuse_newer(made, found)
    if found != head():
        raise errors.ConfigError(
            f'the shared database {connection.place(made)} has version '
            f'{found or "none"}, and this agent needs version {head()}: stop '
            f'the agents of older versions, and run "{_MIGRATE}"'
        )


def refuse_newer(made: sa.Engine, found: str | None) -> None:
    """Refuse a version that this agent does not know.

    :raises errors.ConfigError: an agent of a newer version made it
    """
    known = {step.revision for step in _scripts().walk_revisions()}
    if found and found not in known:
        raise errors.ConfigError(
            f'the shared database {connection.place(made)} has version '
            f'{found}, and this agent knows versions up to {head()}: upgrade '
            'this agent to the version of the one that migrated it'
        )


def _version(db: sa.Connection, made: sa.Engine) -> str | None:
    """Return the version; empty for tables that are being made."""
    found = {*sa.inspect(db).get_table_names()}
    if VERSION_TABLE in found:
        opened = migration.MigrationContext.configure(
            db, opts={'version_table': VERSION_TABLE}
        )
        return opened.get_current_revision() or ''
    if found:
        others = ', '.join(sorted(found)[:3])
        raise errors.ConfigError(
            f'the shared database {connection.place(made)} has tables of '
            f'another program ({others}): give [compute_agent] '
            'state_connection a database of its own'
        )
    return None


def _config() -> config.Config:
    made = config.Config()
    made.set_main_option('script_location', str(_STEPS))
    return made


def _scripts() -> script.ScriptDirectory:
    return script.ScriptDirectory.from_config(_config())
