# SPDX-License-Identifier: Apache-2.0
"""Have nova's transactions on SQLite wait for their turn, as on a server.

It is imported in nova's environment, by each program that writes to nova's
databases. SQLite refuses at once, whatever its timeout is, a write in a
transaction that has read before another program wrote: "database is locked". A
transaction that takes the lock when it begins waits for it instead.
"""

import typing

import sqlalchemy


def take() -> None:
    """Have each transaction of this process begin with the lock."""

    @sqlalchemy.event.listens_for(
        sqlalchemy.Engine, 'before_cursor_execute', retval=True
    )
    def begin(
        connection: object, cursor: object, statement: str, *more: typing.Any
    ) -> tuple[str, typing.Any]:
        del connection, cursor
        if statement == 'BEGIN':
            statement = 'BEGIN IMMEDIATE'
        return statement, more[0]
