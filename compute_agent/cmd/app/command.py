# SPDX-License-Identifier: Apache-2.0
"""Base classes of the commands: configuration, one-line errors, reports.

A report is printed as text for people, or as JSON or YAML for programs. JSON and
YAML keep each value, and escape the characters that a terminal would obey.
"""

import abc
import argparse
import contextlib
import json
import typing
from collections.abc import Sequence

import yaml
from cliff import command
from oslo_config import cfg

from ... import error_text, errors
from ...virt import failures
from . import configuration, main, output, person

#: A result as data and as text, and the exit code.
Reported = tuple[typing.Any, str | None, int]


class AgentCommand(command.Command):
    """A command that reads the agent's configuration."""

    app: main.ComputeAgent

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser; it accepts no abbreviated options."""
        parser = super().get_parser(prog_name)
        parser.allow_abbrev = False
        self.add_format(parser)
        self.add_options(parser)
        return main.one_line_errors(parser)

    def add_format(self, parser: argparse.ArgumentParser) -> None:
        """Add the option for the format, if there are several."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments and options of this command."""

    def get_epilog(self) -> str:
        """Return nothing; see ``commands.Help`` for what cliff would do."""
        return ''

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; an error is one line on stderr, and exit code 1."""
        try:
            with self._alone():
                return int(super().run(parsed_args) or 0)
        except BrokenPipeError:
            raise
        except errors.SeveralMistakes as exc:
            for line in exc.lines:
                self._fail(line, exc)
        except (errors.AgentError, output.CannotWrite) as exc:
            self._fail(str(exc), exc)
        except main.WrongCommandLine:
            raise
        except failures.caught() as exc:
            self._fail(
                f'unexpected {type(exc).__name__}: {exc}; --debug shows the '
                'traceback',
                exc,
            )
        return 1

    def _alone(self) -> contextlib.AbstractContextManager[None]:
        """Return the context in which only results reach stdout."""
        out: object = self.app.stdout
        if isinstance(out, output.Out):
            return out.alone()
        return contextlib.nullcontext()

    def _fail(self, why: str, cause: BaseException) -> None:
        if self.app.global_options.debug:
            self.app.LOG.debug('the cause', exc_info=cause)
        self.say(why)

    def say(self, text: str) -> None:
        """Write a text to stderr, as one printable line."""
        line = error_text.printable(' '.join(text.split()))
        self.app.stderr.write(f'compute-agent: {line}\n')

    def print(
        self,
        form: str,
        data: typing.Any,
        text: str | None,
        *,
        is_styled: bool = False,
    ) -> None:
        """Print a result as data in JSON or YAML, or as text.

        :param is_styled: the text is escaped already
        """
        out = self.app.stdout
        if form == 'json':
            out.write(f'{as_json(data)}\n')
        elif form == 'yaml':
            out.write(as_yaml(data))
        elif text is not None:
            lines = text.split('\n')
            shown = lines if is_styled else map(error_text.printable, lines)
            out.write('\n'.join([*shown, '']))

    @property
    def actor(self) -> str:
        """The command and the person who runs it, for the history."""
        return f'{self.cmd_name} by {person.name()}'

    def conf(self) -> cfg.ConfigOpts:
        """Return the configuration."""
        return configuration.load(self.app.global_options)


class Report(AgentCommand):
    """A command that prints its result as text or as data.

    :cvar styled: True if the text has colours and is escaped already
    """

    styled: typing.ClassVar[bool] = False

    def add_format(self, parser: argparse.ArgumentParser) -> None:
        """Add the option for the format."""
        parser.add_argument(
            '-f',
            '--format',
            choices=('text', 'json', 'yaml'),
            default='text',
            help='The format of the output (default: %(default)s).',
        )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the report; return the exit code."""
        data, text, code = self.report(parsed_args)
        self.print(parsed_args.format, data, text, is_styled=self.styled)
        return code

    @abc.abstractmethod
    def report(self, parsed_args: argparse.Namespace) -> Reported:
        """Return the report as data and as text, and the exit code."""


def as_json(data: typing.Any) -> str:
    """Return data as indented JSON in printable characters."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    if _is_plain(text):
        return text
    return ''.join(c if _is_plain(c) else json.dumps(c)[1:-1] for c in text)


def as_yaml(data: typing.Any) -> str:
    """Return data as YAML in printable characters."""
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    if not _is_plain(text):
        text = yaml.safe_dump(data, sort_keys=False, allow_unicode=False)
    return text


def _is_plain(text: str) -> bool:
    return text.replace('\n', '').isprintable()


def add_nodes(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add the argument that names nodes; without it, all nodes are meant."""
    parser.add_argument(
        'nodes',
        nargs='*',
        metavar='NODE',
        help=f'{purpose} Give names or uuids (default: all nodes of this '
        'agent).',
    )


def take_words(parser: argparse.ArgumentParser, dest: str) -> None:
    """Have a parser accept words of its last argument anywhere.

    argparse accepts them only in one place: it does not recognize words after
    an option that follows other words. After ``--``, everything is a word.
    """
    known = parser.parse_known_args

    def parse(
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> argparse.Namespace:
        found, rest = known(args, namespace)
        end = rest.index('--') if '--' in rest else len(rest)
        words, after = rest[:end], rest[end + 1 :]
        if any(word.startswith('-') for word in words):
            parser.error(f'unrecognized arguments: {" ".join(words)}')
        setattr(found, dest, [*getattr(found, dest), *words, *after])
        return found

    setattr(parser, 'parse_args', parse)  # noqa: B010 (mypy: no method)
