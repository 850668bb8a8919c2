# SPDX-License-Identifier: Apache-2.0
"""Spares the in-process placement what only matters to a production server.

Its answers stay the same. What is spared took half of a request's time: the
validator of each JSON schema, which jsonschema makes and checks anew for each
request; the aliases of tables, whose columns SQLAlchemy copies anew for each
query; and oslo.db's pause after each use of the database, which lets other
green threads run and costs a time slice on a busy machine.
"""

import functools
import typing

import jsonschema
import jsonschema.exceptions
import jsonschema.validators
import sqlalchemy
from oslo_db.sqlalchemy import engines  # type: ignore[import-untyped]


def spare_pauses(engine: sqlalchemy.Engine) -> None:
    """Let a connection go back to its pool without a pause."""
    pause = engines._thread_yield
    if sqlalchemy.event.contains(engine, 'checkin', pause):
        sqlalchemy.event.remove(engine, 'checkin', pause)


def keep_validators() -> typing.Callable[[], None]:
    """Let jsonschema make each validator once; return what undoes this."""
    made: dict[int, tuple[typing.Any, typing.Any]] = {}
    original = jsonschema.validate

    def validate(
        instance: object, schema: typing.Any, **how: typing.Any
    ) -> None:
        validator, _ = made.get(id(schema), (None, None))
        if validator is None:
            kind = jsonschema.validators.validator_for(schema)
            validator = kind(schema, format_checker=how.get('format_checker'))
            made[id(schema)] = validator, schema
        error = jsonschema.exceptions.best_match(
            validator.iter_errors(instance)
        )
        if error is not None:
            raise error

    setattr(jsonschema, 'validate', validate)  # noqa: B010 (other types)
    return functools.partial(setattr, jsonschema, 'validate', original)


def keep_aliases() -> typing.Callable[[], None]:
    """Let SQLAlchemy make each alias of a table once; return what undoes this.

    Two queries may share an alias: it never changes once it is made.
    """
    original = sqlalchemy.alias
    made: dict[tuple[int, str], tuple[typing.Any, typing.Any]] = {}

    def alias(
        selectable: typing.Any, name: str | None = None, **how: typing.Any
    ) -> typing.Any:
        if name is None or how or not isinstance(selectable, sqlalchemy.Table):
            return original(selectable, name, **how)
        key = id(selectable), name
        if key not in made:
            made[key] = original(selectable, name), selectable
        return made[key][0]

    setattr(sqlalchemy, 'alias', alias)  # noqa: B010 (other types)
    return functools.partial(setattr, sqlalchemy, 'alias', original)
