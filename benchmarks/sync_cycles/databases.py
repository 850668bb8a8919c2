# SPDX-License-Identifier: Apache-2.0
"""What placement's database is to the benchmark, and SQLite as one.

``postgresql.py`` has the other one. ``bench.py`` keeps a database as it was
after a first sync and starts each scenario from a copy.
"""

import contextlib
import pathlib
import sqlite3
from collections.abc import Sequence
from typing import Protocol


class Databases(Protocol):
    """The databases of one server.

    :ivar workers: how many processes of placement it serves
    :ivar pid: its process, None where it has none
    """

    workers: int
    pid: int | None

    def create(self, name: str) -> None:
        """Make an empty database, in place of what was there."""

    def copy(self, source: str, target: str) -> None:
        """Make a copy of a database that nobody uses."""

    def url(self, name: str) -> str:
        """Return how placement is to connect to it."""

    def run(self, name: str, sql: str) -> None:
        """Execute statements."""

    def rows(self, name: str, query: str) -> Sequence[str]:
        """Return the rows, the columns of each with ``|`` between them."""


class SQLite:
    """SQLite files in one directory: one worker, for it refuses writers."""

    workers = 1
    pid: int | None = None

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def create(self, name: str) -> None:
        """Make an empty database, in place of what was there."""
        for path in self._folder.glob(f'{name}.sqlite*'):
            path.unlink()
        with self._connected(name) as connection:
            connection.execute('PRAGMA journal_mode = WAL')

    def copy(self, source: str, target: str) -> None:
        """Make a copy of a database that nobody uses."""
        self.create(target)
        with self._connected(source) as one, self._connected(target) as other:
            one.backup(other)

    def url(self, name: str) -> str:
        """Return how placement is to connect to it."""
        return f'sqlite:///{self._path(name)}'

    def run(self, name: str, sql: str) -> None:
        """Execute statements."""
        with self._connected(name) as connection:
            connection.executescript(sql)

    def rows(self, name: str, query: str) -> Sequence[str]:
        """Return the rows, the columns of each with ``|`` between them."""
        with self._connected(name) as connection:
            found = connection.execute(query).fetchall()
        return ['|'.join(map(str, row)) for row in found]

    def _path(self, name: str) -> pathlib.Path:
        return self._folder / f'{name}.sqlite'

    def _connected(self, name: str) -> contextlib.closing[sqlite3.Connection]:
        return contextlib.closing(sqlite3.connect(self._path(name)))
