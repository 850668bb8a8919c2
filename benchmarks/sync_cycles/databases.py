# SPDX-License-Identifier: Apache-2.0
"""Placement's database as the benchmark uses it, and its SQLite variant.

``postgresql.py`` has the other variant. ``bench.py`` keeps the database of a
first sync, and starts each scenario from a copy.
"""

import contextlib
import pathlib
import sqlite3
from collections.abc import Sequence
from typing import Protocol


class Databases(Protocol):
    """The databases of one server.

    :ivar workers: the number of placement's processes that it serves
    :ivar pid: its process, or None
    """

    workers: int
    pid: int | None

    def create(self, name: str) -> None:
        """Create an empty database; an existing one is replaced."""

    def copy(self, source: str, target: str) -> None:
        """Copy a database that is not in use."""

    def url(self, name: str) -> str:
        """Return the URL of a database, for placement."""

    def run(self, name: str, sql: str) -> None:
        """Execute statements."""

    def rows(self, name: str, query: str) -> Sequence[str]:
        """Return the rows, with ``|`` between the columns."""


class SQLite:
    """SQLite files in one directory; it allows only one writing worker."""

    workers = 1
    pid: int | None = None

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder

    def create(self, name: str) -> None:
        """Create an empty database; an existing one is replaced."""
        for path in self._folder.glob(f'{name}.sqlite*'):
            path.unlink()
        with self._connected(name) as connection:
            connection.execute('PRAGMA journal_mode = WAL')

    def copy(self, source: str, target: str) -> None:
        """Copy a database that is not in use."""
        self.create(target)
        with self._connected(source) as one, self._connected(target) as other:
            one.backup(other)

    def url(self, name: str) -> str:
        """Return the URL of a database, for placement."""
        return f'sqlite:///{self._path(name)}'

    def run(self, name: str, sql: str) -> None:
        """Execute statements."""
        with self._connected(name) as connection:
            connection.executescript(sql)

    def rows(self, name: str, query: str) -> Sequence[str]:
        """Return the rows, with ``|`` between the columns."""
        with self._connected(name) as connection:
            found = connection.execute(query).fetchall()
        return ['|'.join(map(str, row)) for row in found]

    def _path(self, name: str) -> pathlib.Path:
        return self._folder / f'{name}.sqlite'

    def _connected(self, name: str) -> contextlib.closing[sqlite3.Connection]:
        return contextlib.closing(sqlite3.connect(self._path(name)))
