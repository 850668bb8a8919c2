# SPDX-License-Identifier: Apache-2.0
"""Commands that act on each line of standard input, for the argument "-".

A line stands in the place of the "-": its words are the arguments, quoted as
in a shell. All lines are checked before the first one is carried out. A line
that fails does not stop the others, unless the service is unavailable.
"""

import abc
import argparse
import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence

from ... import errors
from . import command, listing, progress, stdin_lines

#: The mistake of each item, or None.
Mistakes = Sequence[errors.AgentError | None]

NO_LINES = 'standard input has no lines: there is nothing to do'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one item.

    :ivar notes: remarks for the operator, on stderr
    :ivar rows: the rows that a listing prints for it
    """

    data: dict[str, typing.Any]
    text: str
    notes: Sequence[str] = ()
    rows: Sequence[Sequence[typing.Any]] = ()


class Items(command.AgentCommand):
    """A command about one item, or about one item for each line of stdin."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser; "-" among the words is for standard input."""
        whole = super().get_parser(prog_name)
        self.add_item(whole)
        shared = super().get_parser(prog_name)
        one = whole.parse_args

        def parse(
            args: Sequence[str] | None = None,
            namespace: argparse.Namespace | None = None,
        ) -> argparse.Namespace:
            words = list(args or ())
            if stdin_lines.STDIN not in words or {'-h', '--help'} & set(words):
                return one(words, namespace)
            found, template = shared.parse_known_args(words, namespace)
            found.template = template
            return found

        setattr(whole, 'parse_args', parse)  # noqa: B010 (mypy: no method)
        return whole

    def one(self, parsed_args: argparse.Namespace) -> Outcome:
        """Act on the one item of the command line."""
        self.check(parsed_args)
        (mistake,) = self.prepare([parsed_args])
        if mistake is not None:
            raise mistake
        outcome = self.act(parsed_args)
        for note in outcome.notes:
            self.say(note)
        return outcome

    def of_lines(
        self, parsed_args: argparse.Namespace
    ) -> command.Reported | None:
        """Act on the items of the lines; None if there is no "-"."""
        template = getattr(parsed_args, 'template', None)
        return None if template is None else self._of_lines(template)

    @abc.abstractmethod
    def add_item(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments of one item."""

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse wrong arguments before any request is sent."""

    @abc.abstractmethod
    def prepare(self, items: Sequence[argparse.Namespace]) -> Mistakes:
        """Look up what the items name; return the mistake of each, or None.

        No request writes anything.
        """

    @abc.abstractmethod
    def act(self, parsed_args: argparse.Namespace) -> Outcome:
        """Carry out one item."""

    def _of_lines(self, template: Sequence[str]) -> command.Reported:
        lines = stdin_lines.read(self)
        items = self._checked(lines, template) if lines else {}
        return carry_out(
            self, lines, lambda line: self.act(items[line.number])
        )

    def _checked(
        self, lines: Sequence[stdin_lines.Line], template: Sequence[str]
    ) -> dict[int, argparse.Namespace]:
        """Return the items by the number of their line.

        :raises errors.SeveralMistakes: the mistakes of all lines
        """
        parser = _line_parser()
        self.add_item(parser)
        items: dict[int, argparse.Namespace] = {}
        mistakes = []
        for line in lines:
            try:
                items[line.number] = found = parser.parse_args(
                    _words(template, line)
                )
                self.check(found)
            except errors.AgentError as exc:
                mistakes.append(line.mistake(f'{exc}{line.hint}'))
        stdin_lines.refuse(mistakes)
        found_out = self.prepare([items[line.number] for line in lines])
        stdin_lines.refuse(
            line.mistake(f'{why}{line.hint}')
            for line, why in zip(lines, found_out, strict=True)
            if why is not None
        )
        return items


class BulkReport(Items, command.Report):
    """A report on one item, or on one item for each line of stdin."""

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Act on the one item, or on the item of each line."""
        reported = self.of_lines(parsed_args)
        if reported is not None:
            return reported
        outcome = self.one(parsed_args)
        return outcome.data, outcome.text, 0


class BulkListing(Items, listing.Listing):
    """A change of one item, which prints rows, or of one for each line."""

    _reported: command.Reported | None = None

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Act on the one item, or on the item of each line."""
        self._reported = self.of_lines(parsed_args)
        if self._reported is not None:
            return (), None, self._reported[2]
        outcome = self.one(parsed_args)
        return outcome.rows, outcome.text, 0

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: listing.Rows,
    ) -> int:
        """Print the rows of one item, or the outcome of each line."""
        if self._reported is None:
            return super().produce_output(parsed_args, column_names, data)
        found, text, code = self._reported
        self.print(parsed_args.formatter, found, text)
        return code


class BulkRecord(Items, listing.Record):
    """A change of one item, which prints columns, or of one for each line."""

    _reported: command.Reported | None = None

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        code = super().run(parsed_args)
        return code or (self._reported[2] if self._reported else 0)

    def record(
        self, parsed_args: argparse.Namespace
    ) -> Mapping[str, typing.Any]:
        """Act on the one item, or on the item of each line."""
        self._reported = self.of_lines(parsed_args)
        if self._reported is not None:
            return dict.fromkeys(self.columns(parsed_args))
        return self.one(parsed_args).data

    def produce_output(
        self,
        parsed_args: argparse.Namespace,
        column_names: Sequence[str],
        data: Sequence[typing.Any],
    ) -> int:
        """Print the columns of one item, or the outcome of each line."""
        if self._reported is None:
            return super().produce_output(parsed_args, column_names, data)
        found, text, code = self._reported
        self.print(parsed_args.formatter, found, text)
        return code


def carry_out(
    asking: command.AgentCommand,
    lines: Sequence[stdin_lines.Line],
    act: Callable[[stdin_lines.Line], Outcome],
) -> command.Reported:
    """Act on each line; return the outcomes as data and text, and the code.

    Each failure is a line on stderr, printed when the progress bar is gone.
    """
    if not lines:
        return [], NO_LINES, 0
    done = _Done()
    with progress.bar(asking.app.stderr, asking.cmd_name or '') as advance:
        for position, line in enumerate(lines):
            try:
                done.add(line, act(line))
            except KeyboardInterrupt:
                asking.say(
                    f'interrupted in line {line.number}: the lines before it '
                    'were carried out'
                )
                raise
            except errors.AgentError as exc:
                done.fail(line, exc)
                if isinstance(exc, (errors.Unavailable, errors.ConfigError)):
                    done.skip(lines[position + 1 :])
                    break
            advance(len(lines))
    for remark in done.remarks:
        asking.say(remark)
    return done.data, '\n'.join(done.texts) or None, 1 if done.failed else 0


class _Done:
    """The outcomes of the lines so far."""

    def __init__(self) -> None:
        self.data: list[dict[str, typing.Any]] = []
        self.texts: list[str] = []
        self.remarks: list[str] = []
        self.failed = False

    def add(self, line: stdin_lines.Line, outcome: Outcome) -> None:
        """Keep the outcome of a line."""
        self.data.append({'line': line.number, **outcome.data})
        self.texts.append(outcome.text)
        self.remarks += map(line.mistake, outcome.notes)

    def fail(self, line: stdin_lines.Line, why: errors.AgentError) -> None:
        """Keep the failure of a line."""
        self.failed = True
        self.data.append({'line': line.number, 'error': str(why)})
        self.remarks.append(line.mistake(why))

    def skip(self, lines: Sequence[stdin_lines.Line]) -> None:
        """Say that these were not tried."""
        if not lines:
            return
        first, last = lines[0].number, lines[-1].number
        self.remarks.append(
            f'line {first} was not tried'
            if first == last
            else f'lines {first} to {last} were not tried'
        )


def _words(template: Sequence[str], line: stdin_lines.Line) -> list[str]:
    """Return the words of a command with a line in the place of the "-"."""
    place = list(template).index(stdin_lines.STDIN)
    return [*template[:place], *line.words, *template[place + 1 :]]


def _line_parser() -> argparse.ArgumentParser:
    """Return a parser that raises its errors."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)

    def error(message: str) -> typing.NoReturn:
        raise errors.ConfigError(' '.join(message.split()))

    setattr(parser, 'error', error)  # noqa: B010 (mypy: no method)
    return parser
