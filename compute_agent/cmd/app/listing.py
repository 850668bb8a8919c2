# SPDX-License-Identifier: Apache-2.0
"""Base classes of the commands that list rows or show one, in cliff's formats.

The columns and their order are an interface: they are the keys of ``-f json``.
Values are plain; each format has its own way to print None, lists and
mappings. Notes about the rows, and errors, go to stderr, one line each. On a
terminal a table is no wider than the terminal, and no uuid is broken.
"""

import abc
import argparse
import itertools
import json
import os
import re
import textwrap
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence

from cliff import lister, show
from cliff.formatters import json_format

from ... import error_text, errors
from . import command

Rows = Iterable[Sequence[typing.Any]]
#: The rows, a note about them, and the exit code.
Listed = tuple[Rows, str | None, int]

_WITH_ARRAYS = {'json', 'yaml'}
_FRAME = 3  # characters of a table between two columns
_LONG = 20  # characters of a word that is not broken
_WORDS = re.compile('[ ,]')
_UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


class Columns(command.AgentCommand):
    """A command whose result has named columns."""

    #: The names of the columns, in order.
    COLUMNS: typing.ClassVar[tuple[str, ...]]

    def columns(
        self,
        parsed_args: argparse.Namespace,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Return the columns; options may add some."""
        return self.COLUMNS

    def choose(self, parsed_args: argparse.Namespace, option: str) -> None:
        """Replace the columns that an option names by their exact names.

        Versions of cliff differ in the spellings that they take.

        :raises errors.ConfigError: there is no such column
        """
        known = {_folded(name): name for name in self.columns(parsed_args)}
        for name in getattr(parsed_args, option):
            if _folded(name) not in known:
                raise errors.ConfigError(
                    f'there is no column {name!r}; the columns are '
                    f'{", ".join(known.values())}'
                )
        chosen = [
            known[_folded(name)] for name in getattr(parsed_args, option)
        ]
        setattr(parsed_args, option, chosen)


class Listing(Columns, lister.Lister):
    """A command whose result is rows.

    :cvar SPARE: columns that a table leaves out first if the terminal is too
        narrow, unless --column names them
    """

    SPARE: typing.ClassVar[tuple[str, ...]] = ()

    _code = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser; every listing has --limit."""
        parser = super().get_parser(prog_name)
        known = itertools.chain.from_iterable(
            action.option_strings
            for action in parser._actions  # noqa: SLF001
        )
        if '--limit' not in known:
            parser.add_argument(
                '--limit',
                type=_count,
                metavar='N',
                dest='most_rows',
                help='Print at most this many rows.',
            )
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        return super().run(parsed_args) or self._code

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Rows]:
        """Return columns and rows."""
        self.choose(parsed_args, 'columns')
        self.choose(parsed_args, 'sort_columns')
        rows, note, self._code = self.rows(parsed_args)
        if note:
            self.say(note)
        return self.columns(parsed_args), rows

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Rows,
    ) -> int:
        """Print the rows; only JSON and YAML have null and arrays."""
        form = parsed_args.formatter
        rows = self._first(parsed_args, list(data))
        if form == 'table' and not rows and not parsed_args.print_empty:
            return 0  # cliff would print an empty line
        if form in _WITH_ARRAYS:
            self.formatter = _AsData(self.as_data, is_yaml=form == 'yaml')
            return self._printed(parsed_args, column_names, rows)
        shown = _in_a_table if form == 'table' else in_a_line
        cells = [[shown(value) for value in row] for row in rows]
        if form == 'table':
            cells = self._fitted(parsed_args, column_names, cells)
        return self._printed(parsed_args, column_names, cells)

    def _printed(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        rows: Rows,
    ) -> int:
        code: int = super().produce_output(parsed_args, column_names, rows)
        return code

    def _first(
        self, parsed_args: argparse.Namespace, rows: list[Sequence[typing.Any]]
    ) -> list[Sequence[typing.Any]]:
        """Return the rows that --limit leaves, and say how many there are."""
        most = getattr(parsed_args, 'most_rows', None)
        if most is None or len(rows) <= most:
            return rows
        self.say(f'{most} of {len(rows)} rows; --limit N prints others')
        return rows[:most]

    def _fitted(
        self,
        parsed_args: argparse.Namespace,
        columns: Sequence[str],
        rows: list[list[typing.Any]],
    ) -> list[list[typing.Any]]:
        """Return the rows of a table that is no wider than the terminal.

        Columns that are spared are taken out of ``parsed_args.columns``.
        """
        width = _terminal_width(self.app.stdout)
        if not width or parsed_args.max_width or parsed_args.fit_width:
            return rows
        chosen = parsed_args.columns
        kept = [name for name in columns if name in (chosen or columns)]
        table = _Table(columns, rows)
        spared: list[str] = []
        for name in () if chosen else [*self.SPARE, *reversed(columns[1:])]:
            if table.least_width(kept) <= width:
                break
            if name in kept:
                kept.remove(name)
                spared.append(name)
        if spared:
            parsed_args.columns = kept
            self.say(
                f'left out for a terminal of {width} columns: '
                f'{", ".join(spared)}; -f json has all, -c COLUMN the named '
                'ones'
            )
        return table.wrapped(kept, width)

    def as_data(self, rows: list[dict[str, typing.Any]]) -> typing.Any:
        """Return what JSON and YAML have: the rows, as column → value."""
        return rows

    @abc.abstractmethod
    def rows(self, parsed_args: argparse.Namespace) -> Listed:
        """Return the rows, a note about them, and the exit code."""


class Record(Columns, show.ShowOne):
    """A command whose result is one thing, with a value for each column."""

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[typing.Any]]:
        """Return the columns, and a value for each."""
        self.choose(parsed_args, 'columns')
        found = self.record(parsed_args)
        columns = self.columns(parsed_args)
        return columns, [found[name] for name in columns]

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Sequence[typing.Any],
    ) -> int:
        """Print the values; only JSON and YAML have null, arrays and objects."""
        form = parsed_args.formatter
        if form in _WITH_ARRAYS:
            found = {
                name: value
                for name, value in zip(column_names, data, strict=True)
                if not parsed_args.columns or name in parsed_args.columns
            }
            _print_data(self.app.stdout, found, parsed_args)
            return 0
        shown = _in_a_table if form == 'table' else in_a_line
        code: int = super().produce_output(
            parsed_args, column_names, [shown(value) for value in data]
        )
        return code

    @abc.abstractmethod
    def record(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Return a value for each column."""


def _count(text: str) -> int:
    """Return a number of rows.

    :raises ValueError: it is no number from 1 on; argparse says so
    """
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _print_data(
    out: typing.TextIO, data: typing.Any, parsed_args: argparse.Namespace
) -> None:
    if parsed_args.formatter == 'yaml':
        out.write(command.as_yaml(data))
    elif parsed_args.noindent:
        out.write(f'{json.dumps(data)}\n')
    else:
        out.write(f'{command.as_json(data)}\n')


def _terminal_width(out: typing.Any) -> int:
    """Return the columns of the terminal, 0 if the output is none."""
    try:
        return os.get_terminal_size(out.fileno()).columns
    except (AttributeError, OSError, ValueError):
        return 0


class _Table:
    """The cells of a table, and the widths that its columns may have.

    A column may become as narrow as its name and its longest word. A very long
    word may be broken, but none with a uuid.
    """

    def __init__(
        self, columns: Sequence[str], rows: list[list[typing.Any]]
    ) -> None:
        self._columns = columns
        self._rows = rows
        self._widths, self._least = dict[str, int](), dict[str, int]()
        for place, name in enumerate(columns):
            cells = [str(row[place]) for row in rows]
            lines = [line for cell in cells for line in cell.split('\n')]
            width = max(map(len, [name, *lines]))
            words = [w for line in lines for w in _WORDS.split(line)]
            self._widths[name] = width
            self._least[name] = max(
                len(name),
                *(
                    len(w) if _UUID.search(w) else min(len(w), _LONG)
                    for w in words
                ),
                0,
            )

    def least_width(self, kept: Sequence[str]) -> int:
        """Return the width of the narrowest table with these columns."""
        return sum(self._least[name] + _FRAME for name in kept) + 1

    def wrapped(
        self, kept: Sequence[str], width: int
    ) -> list[list[typing.Any]]:
        """Return the rows, wrapped until a table of these columns fits."""
        widths = dict(self._widths)
        over = sum(widths[name] + _FRAME for name in kept) + 1 - width
        while over > 0:
            soft = [name for name in kept if widths[name] > self._least[name]]
            if not soft:
                break
            widths[max(soft, key=widths.__getitem__)] -= 1
            over -= 1
        return [
            [
                cell
                if widths[name] == self._widths[name]
                else _lines(cell, widths[name])
                for name, cell in zip(self._columns, row, strict=True)
            ]
            for row in self._rows
        ]


def _lines(cell: typing.Any, width: int) -> typing.Any:
    """Return a text in lines of a width, broken after blanks and commas."""
    if not isinstance(cell, str) or len(cell) <= width:
        return cell
    return '\n'.join(
        line
        for part in cell.split('\n')
        for line in textwrap.wrap(
            part.replace(',', ', '), width, break_on_hyphens=False
        )
        or ['']
    )


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
            stdout.write(command.as_yaml(found))
            return
        indent = None if parsed_args.noindent else 2
        stdout.write(f'{json.dumps(found, indent=indent)}\n')


def _in_a_table(value: typing.Any) -> typing.Any:
    """Return a value for a table's cell: one name per line, escaped."""
    if isinstance(value, Mapping):
        return '\n'.join(
            f'{_in_a_table(name)}={in_a_line(one)}'
            for name, one in value.items()
        )
    if isinstance(value, (list, tuple)):
        return '\n'.join(str(_in_a_table(item)) for item in value)
    if isinstance(value, str):
        return error_text.printable(value)
    return '' if value is None else value


def in_a_line(value: typing.Any) -> typing.Any:
    """Return a value for CSV or plain values: names joined by commas."""
    if isinstance(value, Mapping):
        return ','.join(
            f'{in_a_line(name)}={in_a_line(one)}'
            for name, one in value.items()
        )
    if isinstance(value, (list, tuple)):
        return ','.join(str(in_a_line(item)) for item in value)
    if isinstance(value, str):
        return error_text.printable(value)
    return '' if value is None else value
