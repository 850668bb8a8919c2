# SPDX-License-Identifier: Apache-2.0
"""The checks of the database that the agents of a share use together.

``doctor.py`` imports them when a check runs, because they need the extra
``fleet``. Nothing is written: statements that would change rows change none. The
clocks of the machines are not compared, because no agent compares them.
"""

import functools
import statistics
import time
from collections.abc import Callable

import sqlalchemy as sa
from oslo_config import cfg

from ... import error_text
from ...fleet import lease
from ...fleet.database import connection, schema
from ...fleet.values import share
from ..app import configuration
from . import finding
from .finding import Finding

_ASKED = 5  # times, for the latency
_SLOW = 0.02  # seconds for a statement; a write to placement takes three
# No agent has this share: a name cannot be empty.
_CHANGES_NOTHING = (
    "insert into lease select * from lease where share = ''",
    "update lease set beat = beat + 1 where share = ''",
    "delete from lease where share = ''",
)


class Asked:
    """The answers of the database."""

    def __init__(self, conf: cfg.ConfigOpts, url: str) -> None:
        self._conf = conf
        self._url = url

    @functools.cached_property
    def _engine(self) -> sa.Engine:
        return connection.engine(self._url)

    @functools.cached_property
    def _version(self) -> str | None:
        return schema.version(self._engine)

    def closed_after(self, run: Callable[[], Finding]) -> Finding:
        """Return the result of a check; close the connections after it."""
        try:
            return run()
        finally:
            self._engine.dispose()

    def reachable(self) -> Finding:
        """Report if the database answers, and how fast."""

        def ask(db: sa.Connection) -> tuple[str, float]:
            times = []
            for _ in range(_ASKED):
                began = time.monotonic()
                db.exec_driver_sql('select 1')
                times.append(time.monotonic() - began)
            numbers = db.dialect.server_version_info or ()
            return '.'.join(map(str, numbers)), statistics.median(times)

        version, seconds = connection.run_again(self._engine, ask)
        said = (
            f'{connection.place(self._engine)} answers (version {version}), '
            f'in {seconds * 1000:.1f} ms'
        )
        if seconds > _SLOW:
            return finding.warning(
                said,
                'each write to placement waits for about four answers: take a '
                'database that is nearer',
            )
        return finding.ok(said)

    def tables(self) -> Finding:
        """Report if the tables are those of this version."""
        if self._version is None:
            return finding.ok('there are none yet; the first start makes them')
        schema.check(self._engine, self._version)
        return finding.ok(f'they have version {self._version}')

    def rights(self) -> Finding:
        """Report if the account may do what an agent does."""

        def ask(db: sa.Connection) -> str:
            if self._version is not None:
                for statement in _CHANGES_NOTHING:
                    db.exec_driver_sql(statement)
            elif db.dialect.name == 'postgresql':
                query = (
                    "select has_schema_privilege(current_schema(), 'create')"
                )
                if not db.exec_driver_sql(query).scalar():
                    return 'make tables'
            return ''

        lacks = connection.run_again(self._engine, ask)
        if lacks:
            return finding.failed(
                f'the account may not {lacks}',
                'grant it all rights on the database (docs/fleet.md)',
            )
        return finding.ok('the account may read and write')

    def commits(self) -> Finding:
        """Report if a commit that the server confirmed can be relied on."""

        def ask(db: sa.Connection) -> Finding:
            if db.dialect.name == 'mysql':
                return _galera(db)
            return _postgresql(db)

        return connection.run_again(self._engine, ask)

    def share(self) -> Finding:
        """Report the agent that holds this agent's share."""
        loaded = configuration.load_drivers(self._conf)
        drivers = loaded.filters
        for one in loaded:
            one.close()
        name = share.named(self._conf.compute_agent.share, drivers)
        if not self._version:
            return finding.ok(f'no agent has reported {name} yet')
        row = lease.Leases(self._engine).row(name)
        if row is None:
            return finding.ok(f'no agent has reported {name} yet')
        lease.check_driver(row, '+'.join(called for called, _ in drivers))
        if row.holder is None:
            return finding.ok(f'no agent holds {name} now')
        return finding.ok(f'{row.holder} holds {name}, with epoch {row.epoch}')


def _postgresql(db: sa.Connection) -> Finding:
    """Report if this is a primary, and if a commit is on its disk."""
    if db.dialect.name == 'postgresql':
        if db.exec_driver_sql('select pg_is_in_recovery()').scalar():
            return finding.failed(
                'the server is a standby and takes no writes',
                'set [compute_agent] state_connection to the primary, or to '
                'the address that moves with it',
            )
        for name in ('fsync', 'synchronous_commit'):
            if db.exec_driver_sql(f'show {name}').scalar() == 'off':
                return finding.warning(
                    f'{name} is off, so a crash of the server loses the last '
                    'commits',
                    f'set {name} to on',
                )
    return finding.ok(f'the isolation is {db.get_isolation_level().lower()}')


def _galera(db: sa.Connection) -> Finding:
    """Report if this server takes part in its cluster, if it has one."""
    listed = db.exec_driver_sql("show global status like 'wsrep%%'").all()
    status = {str(name): str(value) for name, value in listed}
    wsrep = db.exec_driver_sql("show variables like 'wsrep_on'").all()
    isolation = f'the isolation is {db.get_isolation_level().lower()}'
    if not wsrep or wsrep[0][1] != 'ON':
        if int(status.get('wsrep_cluster_size', 0)) > 0:
            return finding.failed(
                'wsrep_on is off for this account at a server of Galera, so '
                'its commits stay at this server',
                'set wsrep_on to ON',
            )
        return finding.ok(f'{isolation}; the server is no part of Galera')
    if status.get('wsrep_ready') != 'ON':
        return finding.failed(
            'the server has lost its cluster '
            f'({status.get("wsrep_local_state_comment")})',
            'see its log, or connect to another server of the cluster',
        )
    size = error_text.counted(int(status['wsrep_cluster_size']), 'server')
    return finding.ok(f'{isolation}; Galera has {size}')
