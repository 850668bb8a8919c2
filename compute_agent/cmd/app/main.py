# SPDX-License-Identifier: Apache-2.0
"""The ``compute-agent`` program: global options, commands, exit codes.

Options for oslo.config are accepted before and after the command. An error is
one line on stderr. Exit codes are 0, 1 and, for ``plan``, ``drift``, ``audit``
and ``trait sync-check``, 2; a wrong command line is 1. ``commands.py`` finds the
commands and imports only the one that runs, so that ``--help`` is quick.
"""

import argparse
import contextlib
import dataclasses
import difflib
import importlib.metadata
import io
import itertools
import logging
import re
import sys
import typing
from collections.abc import Sequence

from cliff import app

from ... import error_text
from . import commands, exit_codes, output, plain_text

if typing.TYPE_CHECKING:
    from openstack.config import cloud_region

DESCRIPTION = (
    'Reports the resources of hosts and bare-metal nodes to OpenStack '
    'placement.'
)


class WrongCommandLine(SystemExit):
    """The command line is wrong; the message is printed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GlobalOptions:
    """The options that every command takes."""

    config_files: Sequence[str]
    config_dirs: Sequence[str]
    debug: bool
    os_cloud: str | None = None
    agent: str | None = None
    #: The cloud whose account OpenStack's client uses, if it runs the command.
    region: 'cloud_region.CloudRegion | None' = None


class ComputeAgent(app.App):
    """The command-line application."""

    NAME = 'compute-agent'
    CONSOLE_MESSAGE_FORMAT = 'compute-agent: %(message)s'

    command_manager: commands.Commands

    def __init__(self, global_options: GlobalOptions) -> None:
        super().__init__(
            description=DESCRIPTION,
            version=importlib.metadata.version('compute-agent'),
            command_manager=commands.Commands(),
            deferred_help=True,
        )
        self.command_manager.add_command('help', commands.Help)
        self.command_manager.add_command('complete', commands.Complete)
        self.global_options = global_options

    def build_option_parser(
        self,
        description: str | None,
        version: str | None,
        argparse_kwargs: dict[str, typing.Any] | None = None,  # noqa: ARG002
    ) -> argparse.ArgumentParser:
        """Return a parser whose help includes the global options."""
        parser = one_line_errors(
            argparse.ArgumentParser(
                description=description, add_help=False, allow_abbrev=False
            )
        )
        parser.add_argument(
            '--version', action='version', version=f'%(prog)s {version}'
        )
        add_global_options(parser)
        parser.set_defaults(verbose_level=0, log_file=None)
        parser.add_argument(
            '-h',
            '--help',
            dest='deferred_help',
            action='store_true',
            help='Show the commands; after a command, show its options.',
        )
        return parser

    def configure_logging(self) -> None:
        """Log warnings to stderr, or everything with --debug.

        ``run`` sets up oslo.log instead.
        """
        console = logging.StreamHandler(self.stderr)
        console.setFormatter(logging.Formatter(self.CONSOLE_MESSAGE_FORMAT))
        root = logging.getLogger()
        root.addHandler(console)
        plain_text.escape_logs()
        debug = self.global_options.debug
        root.setLevel(logging.DEBUG if debug else logging.WARNING)
        # Their warnings repeat our errors, or do not matter to operators.
        quiet = () if debug else ('keystoneauth',)
        for library in (*quiet, 'stevedore'):
            logging.getLogger(library).setLevel(logging.ERROR)

    def run_subcommand(self, argv: list[str]) -> int:
        """Run a command; an unknown command is a usage error."""
        try:
            self.command_manager.find_command(argv)
        except ValueError:
            words = ' '.join(itertools.takewhile(_is_word, argv))
            self.stderr.write(
                f'compute-agent: there is no command {words!r}; '
                f'{self.command_manager.advice(words)}"compute-agent --help" '
                'lists the commands\n'
            )
            return 1
        return super().run_subcommand(argv)


def _is_word(argument: str) -> bool:
    return not argument.startswith('-')


def one_line_errors(
    parser: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Return a parser that reports a mistake as one line, without the usage."""

    def error(message: str) -> typing.NoReturn:
        line = error_text.printable(' '.join(message.split()))
        sys.stderr.write(
            f'compute-agent: {line}{_meant(parser, line)}; "{parser.prog} '
            '--help" shows the usage\n'
        )
        raise WrongCommandLine(2)

    setattr(parser, 'error', error)  # noqa: B010 (mypy: no method)
    return parser


def _meant(parser: argparse.ArgumentParser, line: str) -> str:
    """Return "; did you mean …?" if a line refuses an option that is nearly one."""
    refused = re.search(r'unrecognized arguments:.*?(--[\w-]+)', line)
    if refused is None:
        return ''
    known = re.findall(r'--[\w-]+', parser.format_usage())
    near = difflib.get_close_matches(refused[1], known, n=1, cutoff=0.75)
    return f'; did you mean {near[0]}?' if near else ''


def add_global_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that are valid before and after every command."""
    parser.add_argument(
        '--config-file',
        action='append',
        default=[],
        metavar='PATH',
        help='A configuration file. May be repeated; options in later files '
        'replace those in earlier ones, and nova.conf is always the earliest. '
        'Default: compute-agent.conf in ~/.compute-agent, ~, /etc/compute-agent '
        'or /etc.',
    )
    parser.add_argument(
        '--config-dir',
        action='append',
        default=[],
        metavar='DIR',
        help='A directory of *.conf files, read after the configuration files. '
        'Default: /etc/compute-agent/conf.d, unless --config-file is given.',
    )
    parser.add_argument(
        '--agent',
        metavar='NAME',
        help='The agent of the service compute-agent@NAME, on a machine that '
        'has several: read /etc/compute-agent/agents/NAME.conf after the '
        'other files. Its state_path is /var/lib/compute-agent/NAME unless a '
        'file sets another.',
    )
    parser.add_argument(
        '--os-cloud',
        metavar='NAME',
        help='Use the account of this cloud in clouds.yaml for placement and '
        'Ironic. Default: the options in [placement] and [ironic]; if a group '
        'has none, OS_CLOUD or the other OS_* variables, except for "run".',
    )
    parser.add_argument(
        '--debug',
        action='store_true',
        help='Log everything, and print tracebacks.',
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Escape names that the terminal cannot show, instead of failing.
            stream.reconfigure(errors='backslashreplace')
    out, messages = output.Out(sys.stdout), output.Messages(sys.stderr)
    streams = typing.cast(typing.Any, (out, messages))
    with (
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
    ):
        try:
            code = _run(argv)
        except KeyboardInterrupt:
            return exit_codes.INTERRUPTED
        except (BrokenPipeError, output.CannotWrite):
            code = 0  # written prints the error
    return written(out, messages, code)


def written(out: output.Out, messages: output.Messages, code: int) -> int:
    """Flush the output; return the exit code.

    :param code: the exit code if everything could be written. It is 1 if a
        command ended with an error, which it has printed.
    """
    printed = out.failure is not None and code == 1
    with contextlib.suppress(OSError):
        out.flush()
    if out.failure is None:
        return code
    out.give_up()
    if isinstance(out.failure, BrokenPipeError):
        return exit_codes.PIPE_CLOSED
    if not printed:
        messages.write(f'compute-agent: {out.failure}\n')
    return 1


def _run(argv: Sequence[str] | None) -> int:
    parser = one_line_errors(
        argparse.ArgumentParser(
            prog=ComputeAgent.NAME, add_help=False, allow_abbrev=False
        )
    )
    add_global_options(parser)
    try:
        given, rest = parser.parse_known_args(argv)
        options = GlobalOptions(
            config_files=given.config_file,
            config_dirs=given.config_dir,
            debug=given.debug,
            os_cloud=given.os_cloud,
            agent=given.agent,
        )
        if rest[:1] == [commands.OPENSTACK]:
            sys.stderr.write(
                f'compute-agent: welcome; "{commands.OPENSTACK}" may be left '
                'out here :-)\n'
            )
            rest = rest[1:]
        if given.debug:
            rest = ['--debug', *rest]
        return ComputeAgent(options).run(rest or ['--help'])
    except SystemExit as exc:
        return _exit_code(exc)


def _exit_code(exc: SystemExit) -> int:
    """Return the exit code of an exit; print its text, if it has one."""
    if exc.code is None or isinstance(exc.code, int):
        # argparse exits with 2, which means a difference here.
        return 1 if exc.code == 2 else exc.code or 0
    line = error_text.printable(' '.join(str(exc.code).split()))
    sys.stderr.write(f'compute-agent: {line}\n')
    return 1


if __name__ == '__main__':
    sys.exit(main())
