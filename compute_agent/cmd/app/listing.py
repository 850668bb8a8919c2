# SPDX-License-Identifier: Apache-2.0
"""Base class of the commands that list rows, in every format of cliff.

The columns and their order are an interface: they are the keys of ``-f json``.
Rows have plain values; each format has its own way to print None and lists.
Notes about the rows, and errors, go to stderr, one line each.
"""

import abc
import argparse
import json
import typing
from collections.abc import Callable, Iterable, Sequence

from cliff import lister
from cliff.formatters import json_format

from ... import error_text, errors
from . import command, plain_text

Rows = Iterable[Sequence[typing.Any]]
#: The rows, a note about them, and the exit code.
Listed = tuple[Rows, str | None, int]

_WITH_ARRAYS = {'json', 'yaml'}


class Listing(command.AgentCommand, lister.Lister):
    """A command whose result is rows."""

    #: The names of the columns, in order.
    COLUMNS: typing.ClassVar[tuple[str, ...]]

    _code = 0

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        return super().run(parsed_args) or self._code

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Rows]:
        """Return columns and rows."""
        # Versions of cliff differ in the spellings that they take.
        self._check(parsed_args.columns)
        for option in ('columns', 'sort_columns'):
            names = [self._named(c) for c in getattr(parsed_args, option)]
            setattr(parsed_args, option, names)
        rows, note, self._code = self.rows(parsed_args)
        if note:
            self.say(note)
        return self.COLUMNS, rows

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Rows,
    ) -> int:
        """Print the rows; only JSON and YAML have null and arrays."""
        form = parsed_args.formatter
        data = list(data)
        if form == 'table' and not data and not parsed_args.print_empty:
            return 0  # cliff would print an empty line
        if form in _WITH_ARRAYS:
            self.formatter = _AsData(self.as_data, is_yaml=form == 'yaml')
        else:
            shown = _in_a_table if form == 'table' else in_a_line
            data = [[shown(value) for value in row] for row in data]
        code: int = super().produce_output(parsed_args, column_names, data)
        return code

    def as_data(self, rows: list[dict[str, typing.Any]]) -> typing.Any:
        """Return what JSON and YAML have: the rows, as column → value."""
        return rows

    @abc.abstractmethod
    def rows(self, parsed_args: argparse.Namespace) -> Listed:
        """Return the rows, a note about them, and the exit code."""

    def _check(self, wanted: Iterable[str]) -> None:
        """Refuse an unknown column before any request is sent.

        :raises errors.ConfigError: there is no such column
        """
        for name in wanted:
            if self._named(name) not in self.COLUMNS:
                raise errors.ConfigError(
                    f'there is no column {name!r}; the columns are '
                    f'{", ".join(self.COLUMNS)}'
                )

    def _named(self, given: str) -> str:
        """Return the name of a column that is given in any case."""
        alike = (c for c in self.COLUMNS if _folded(c) == _folded(given))
        return next(alike, given)


def _folded(name: str) -> str:
    return name.lower().strip().replace(' ', '_')


class _AsData(json_format.JSONFormatter):
    """JSON, or YAML with the columns in their order, and no escaped letters."""

    def __init__(
        self,
        as_data: Callable[[list[dict[str, typing.Any]]], typing.Any],
        *,
        is_yaml: bool,
    ) -> None:
        self._as_data = as_data
        self._is_yaml = is_yaml

    def emit_list(
        self,
        column_names: Sequence[str],
        data: Rows,
        stdout: typing.TextIO,
        parsed_args: argparse.Namespace,
    ) -> None:
        """Print the rows."""
        found = self._as_data(
            [dict(zip(column_names, row, strict=True)) for row in data]
        )
        if self._is_yaml:
            stdout.write(plain_text.as_yaml(found))
            return
        indent = None if parsed_args.noindent else 2
        stdout.write(f'{json.dumps(found, indent=indent)}\n')


def _in_a_table(value: typing.Any) -> typing.Any:
    """Return a value for a table's cell: one name per line, escaped."""
    if isinstance(value, (list, tuple)):
        return '\n'.join(str(_in_a_table(item)) for item in value)
    if isinstance(value, str):
        return error_text.printable(value)
    return '' if value is None else value


def in_a_line(value: typing.Any) -> typing.Any:
    """Return a value for CSV or plain values: names joined by commas."""
    if isinstance(value, (list, tuple)):
        return ','.join(str(in_a_line(item)) for item in value)
    if isinstance(value, str):
        return error_text.printable(value)
    return '' if value is None else value
