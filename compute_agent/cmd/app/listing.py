# SPDX-License-Identifier: Apache-2.0
"""Base class of the commands that list rows, in every format of cliff.

The columns and their order are an interface: they are the keys of ``-f json``.
Rows have plain values; each format has its own way to print None and lists.
Notes about the rows, and errors, go to stderr, one line each.
"""

import abc
import argparse
import typing
from collections.abc import Iterable, Sequence

from cliff import lister
from cliff.formatters import yaml_format

from ... import error_text, errors
from . import command, plain_text

Rows = Iterable[Sequence[typing.Any]]

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
        parsed_args.columns = self._named(parsed_args.columns)
        parsed_args.sort_columns = self._named(parsed_args.sort_columns)
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
        if form == 'yaml':
            self.formatter = _Yaml()
        if form not in _WITH_ARRAYS:
            shown = _in_a_table if form == 'table' else _in_a_line
            data = [[shown(value) for value in row] for row in data]
        code: int = super().produce_output(parsed_args, column_names, data)
        return code

    @abc.abstractmethod
    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Rows, str | None, int]:
        """Return the rows, a note about them, and the exit code."""

    def _named(self, wanted: Iterable[str]) -> list[str]:
        """Return the names of columns, before any request is sent.

        :param wanted: names in any case, a blank may be an underscore
        :raises errors.ConfigError: there is no such column
        """
        known = {_folded(name): name for name in self.COLUMNS}
        for name in wanted:
            if _folded(name) not in known:
                raise errors.ConfigError(
                    f'there is no column {name!r}; the columns are '
                    f'{", ".join(self.COLUMNS)}'
                )
        return [known[_folded(name)] for name in wanted]


def _folded(name: str) -> str:
    return name.lower().strip().replace(' ', '_')


class _Yaml(yaml_format.YAMLFormatter):
    """YAML with the columns in their order, and no escaped letters."""

    def emit_list(
        self,
        column_names: Sequence[str],
        data: Rows,
        stdout: typing.TextIO,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> None:
        """Print the rows."""
        rows = [dict(zip(column_names, row, strict=True)) for row in data]
        stdout.write(plain_text.as_yaml(rows))


def _in_a_table(value: typing.Any) -> typing.Any:
    """Return a value for a table's cell: one name per line, escaped."""
    if isinstance(value, (list, tuple)):
        return '\n'.join(str(_in_a_table(item)) for item in value)
    if isinstance(value, str):
        return error_text.printable(value)
    return '' if value is None else value


def _in_a_line(value: typing.Any) -> typing.Any:
    """Return a value for CSV or plain values: names joined by commas."""
    if isinstance(value, (list, tuple)):
        return ','.join(str(_in_a_line(item)) for item in value)
    if isinstance(value, str):
        return error_text.printable(value)
    return '' if value is None else value
