# SPDX-License-Identifier: Apache-2.0
"""The connections to the shared database, and its transactions.

``engine`` checks the URL and sets the timeouts; ``run`` runs one transaction,
repeats it if the server says so, and tells if nobody knows whether it was
committed. Errors are of one line, without user and password. Threads may share
an engine.
"""

import contextlib
import functools
import logging
import re
import selectors
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import sqlalchemy as sa
from oslo_db import api as oslo_api
from oslo_db import exception as oslo_errors
from oslo_db.sqlalchemy import exc_filters
from sqlalchemy import exc as sa_errors

from ... import error_text, errors, extras

T = TypeVar('T')
_OPTION = '[compute_agent] state_connection'
_DRIVERS = ('postgresql+psycopg', 'mysql+pymysql', 'sqlite+pysqlite')
# The limit for a statement, and for a transaction that an agent left open.
SECONDS = 5.0
_POOL = 2  # one for the beat, one for the cycle
_REPEATED = oslo_api.wrap_db_retry(
    max_retries=3, retry_interval=0.02, retry_on_deadlock=True
)
# The drivers raise these for a wrong option.
_UNFIT = (AttributeError, LookupError, TypeError, ValueError)
FAILURES = (oslo_errors.DBError, sa_errors.SQLAlchemyError, OSError)
DUPLICATE = oslo_errors.DBDuplicateEntry
# Session variables of MariaDB, in seconds; MySQL has some of them.
_MYSQL = (
    'max_statement_time',
    'idle_transaction_timeout',
    'innodb_lock_wait_timeout',
    'net_write_timeout',
)
# An agent that is cut off while it reads holds its locks until the server's
# system gives the connection up: tcp_user_timeout, net_write_timeout.
_POSTGRESQL = (
    'statement_timeout',
    'idle_in_transaction_session_timeout',
    'tcp_user_timeout',
)
# Failures that a person must mend: in the server's words, and in ours.
_MISTAKES = {
    r'authentication failed|\b1045\b|no pg_hba.conf entry|role .* does not'
    r' exist': 'refuses the account: correct user and password, or allow '
    'the account to connect from this host',
    r'database ".*" does not exist|\b1049\b': 'does not exist: create it, and '
    'give the account all rights on it (docs/fleet.md)',
    r'invalid (connection option|.*value)|No such file|certificate file': 'is '
    f'given a wrong option: correct it after the "?" of {_OPTION}',
    r'permission denied|\b1044\b|\b1142\b': 'gives the account too few rights: '
    'grant it all rights on this database (docs/fleet.md)',
}
_NO_HOST = r'Name or service not known|name resolution|\[Errno -\d+\]'
# The reason alone, from the texts of the client libraries.
_REASON = re.compile(
    r'(?:FATAL|ERROR): +(.*)|(?:failed: )(?!connection)(.*)'
    r'|\(\d+, ["\'](.*)["\']\)'
)
# This module reports each failure once, so the libraries must not.
for _name in ('oslo_db', 'sqlalchemy.pool'):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class InDoubt(errors.Unavailable):
    """The connection was lost while a transaction was committed."""


def engine(url: str, lease_seconds: float = 3 * SECONDS) -> sa.Engine:
    """Return an engine; it does not connect yet.

    A holder must know that its database is away before its lease runs out, so
    the timeouts are a part of it.

    :raises errors.ConfigError: the URL is wrong
    """
    parsed = _parsed(url)
    driver = parsed.drivername
    seconds = max(1, int(min(SECONDS, lease_seconds / 3)))
    try:
        made = sa.create_engine(
            parsed,
            connect_args=_arguments(driver, seconds),
            **_pool(driver),
        )
    except ImportError as exc:
        raise errors.ConfigError(
            f'{_OPTION} needs {driver.partition("+")[2]}, which is not '
            f'installed: {extras.advice("fleet")}'
        ) from exc
    except (*_UNFIT, sa_errors.ArgumentError) as exc:
        raise _wrong_option(exc) from exc
    connect = made.dialect.loaded_dbapi.connect
    if driver == 'postgresql+psycopg':
        connect = _patient(2 * seconds)
    sa.event.listen(made, 'do_connect', functools.partial(_connected, connect))
    if driver != 'sqlite+pysqlite':
        how = functools.partial(_set_session, seconds=seconds)
        sa.event.listen(made, 'connect', how)
    exc_filters.register_engine(made)
    return made


def _parsed(url: str) -> sa.URL:
    """Return the URL in its parts.

    :raises errors.ConfigError: the URL is wrong
    """
    try:
        parsed = sa.make_url(url)
    except (sa_errors.ArgumentError, ValueError):  # it shows the password
        parsed = sa.URL.create('')
    # An @ in a part of the URL belongs to the password, which is never shown.
    parts = [parsed.host or '', parsed.database or '', *parsed.query]
    if parsed.drivername not in _DRIVERS or any('@' in one for one in parts):
        raise errors.ConfigError(
            f'{_OPTION} is not the URL of a database: write '
            'postgresql+psycopg://USER:PASSWORD@HOST/NAME or '
            'mysql+pymysql://USER:PASSWORD@HOST/NAME, and in a user or '
            'password @ as %40, : as %3A and / as %2F'
        )
    if not parsed.database:
        raise errors.ConfigError(
            f'{_OPTION} names no database: add /NAME to its end'
        )
    return parsed


def place(made: sa.Engine) -> str:
    """Return the address of a database, without user and password."""
    url = made.url
    shown = sa.URL.create(
        url.drivername, host=url.host, port=url.port, database=url.database
    )
    return error_text.printable(shown.render_as_string())


def run(made: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    """Return what ``work`` returns, after its transaction was committed.

    It is repeated if the server ended it because of another one, and once if
    the connection was lost before it was committed.

    :raises InDoubt: the transaction may have been committed or not
    :raises errors.Unavailable: the transaction was not committed
    """
    try:
        # Deadlocks, and what Galera refuses at a commit, are repeated.
        return _REPEATED(_run)(made, work)  # type: ignore[no-any-return]
    except FAILURES as exc:
        raise errors.Unavailable(str(explained(made, exc))) from exc


def run_again(made: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    """Do the same for work that may be done twice, so it may be repeated.

    :raises errors.Unavailable: the work may not have been committed
    """
    with contextlib.suppress(InDoubt):
        return run(made, work)
    return run(made, work)


def explained(made: sa.Engine, exc: BaseException) -> errors.AgentError:
    """Return the error of one line for a failure of the database."""
    text = ' '.join(str(exc).split())
    for pattern, words in _MISTAKES.items():
        if re.search(pattern, text):
            return errors.ConfigError(
                f'the shared database {place(made)} {words} ({_reason(exc)})'
            )
    advice = 'check that it runs, and that this host reaches it'
    if re.search(_NO_HOST, text):
        advice = f'correct the host in {_OPTION}, or what resolves its name'
    return errors.Unavailable(
        f'the shared database {place(made)} cannot be used '
        f'({_reason(exc)}): {advice}'
    )


def _run(made: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    try:
        return _once(made, work)
    except FAILURES as exc:
        if not _is_lost(exc):
            raise
    return _once(made, work)  # the pool had a connection that was closed


def _once(made: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    """Run a transaction once."""
    with made.connect() as db:
        result = work(db)
        try:
            db.commit()
        except FAILURES as exc:
            if _is_lost(exc):
                raise InDoubt(
                    f'the shared database {place(made)} closed the connection '
                    'in the middle of a commit: check it, and what lies '
                    'between it and this host'
                ) from exc
            raise
        return result


def _is_lost(exc: BaseException) -> bool:
    """True if the connection was lost; the pool has dropped it already."""
    return isinstance(exc, oslo_errors.DBConnectionError) or bool(
        getattr(exc, 'connection_invalidated', False)
    )


def _connected(
    connect: Callable[..., Any],
    _dialect: object,
    _record: object,
    args: Iterable[Any],
    named: Mapping[str, Any],
) -> Any:
    """Return a new connection.

    :raises errors.ConfigError: an option of the URL is wrong
    """
    try:
        return connect(*args, **named)
    except _UNFIT as exc:
        raise _wrong_option(exc) from exc


def _wrong_option(exc: Exception) -> errors.ConfigError:
    return errors.ConfigError(
        f'{_OPTION} has an option after its "?" that its driver does not '
        f'take ({error_text.short(exc)}): correct it, or leave it out'
    )


def _patient(seconds: float) -> Callable[..., Any]:
    """Return a function that connects to PostgreSQL as psycopg does.

    A server that keeps the connection open and says nothing is waited for that
    long, at each statement, COMMIT and ROLLBACK; psycopg waits for ever.
    PyMySQL has timeouts of its own for that.
    """
    import psycopg  # noqa: PLC0415 (one of two drivers)

    class Connection(psycopg.Connection[Any]):
        """A connection whose answers are due."""

        def wait(self, gen: Any, *_args: Any, **_how: Any) -> Any:
            due = time.monotonic() + seconds
            try:
                wanted = next(gen)
                with selectors.PollSelector() as selector:
                    selector.register(self.fileno(), wanted)
                    while True:
                        selector.modify(self.fileno(), wanted)
                        wanted = gen.send(self._ready(selector, due))
            except StopIteration as exc:
                return exc.value

        def _ready(self, selector: selectors.BaseSelector, due: float) -> int:
            """Return what the socket is ready for, as psycopg's bits."""
            left = due - time.monotonic()
            for _key, ready in selector.select(max(0.0, left)):
                return ready
            self.close()
            raise psycopg.OperationalError(f'no answer in {seconds:g} s')

    return Connection.connect


def _arguments(driver: str, seconds: int) -> dict[str, Any]:
    """Return the arguments of the driver: how long it waits."""
    if driver == 'postgresql+psycopg':
        return {
            'connect_timeout': seconds,
            'keepalives_idle': seconds,
            'keepalives_interval': 1,
            'keepalives_count': 3,
            'tcp_user_timeout': seconds * 1000,
        }
    if driver == 'mysql+pymysql':
        return {
            'connect_timeout': seconds,
            'read_timeout': seconds * 2,
            'write_timeout': seconds * 2,
        }
    return {'timeout': seconds}


def _pool(driver: str) -> dict[str, Any]:
    """Return the options of the pool of connections."""
    if driver == 'sqlite+pysqlite':
        return {}
    return {
        'pool_size': _POOL,
        'max_overflow': 1,
        'pool_timeout': SECONDS,
        'pool_recycle': 3600,
    }


def _set_session(opened: Any, _record: object, *, seconds: int) -> None:
    """Have the server end what an agent leaves open, and wait for no lock.

    With ``wsrep_sync_wait``, a server of Galera answers only after it has
    applied what was committed at the others.
    """
    with contextlib.closing(opened.cursor()) as cursor:
        if hasattr(opened, 'fileno'):
            words = '; '.join(f"set {n} = '{seconds}s'" for n in _POSTGRESQL)
            cursor.execute(words)
        else:
            values = dict.fromkeys(_MYSQL, seconds) | {'wsrep_sync_wait': 7}
            cursor.execute('show variables')
            known = values.keys() & {name for name, _ in cursor.fetchall()}
            words = ', '.join(f'{name} = {values[name]}' for name in known)
            cursor.execute(f'set session {words}')
    opened.commit()


def _reason(exc: BaseException) -> str:
    """Return the server's own words, or those of the operating system."""
    inner = getattr(exc, 'inner_exception', None) or exc
    text = ' '.join(str(getattr(inner, 'orig', None) or inner).split())
    found = _REASON.findall(text)
    words = next((w for w in found[-1] if w), '') if found else ''
    return error_text.cut(error_text.as_line(words or text), 120)
