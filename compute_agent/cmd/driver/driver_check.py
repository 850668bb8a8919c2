# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver check``: an installed driver against its contract."""

import argparse
import contextlib
import importlib.util
import signal
import threading
import types
import typing
from collections.abc import Iterator

from ... import errors
from ...virt import driver as virt
from ...virt import loader
from ..app import configuration, listing, progress
from . import report_file

_NEEDED = ('pytest', 'placement', 'waitress')


class DriverCheck(listing.Listing):
    """Check an installed driver against each rule of the contract.

    The driver runs on a placement of its own in a process of its own; nothing
    is written to a real one. Its package gives the world: the options, and the
    sources that are made to fail. Without one, the driver is made from the
    configuration, and the rules about failing sources are not tried. Exit
    code 0: no rule is broken, and each that concerns the driver was tried; 1:
    a rule is broken or was not tried, or an error.
    """

    COLUMNS = ('Rule', 'Title', 'Result', 'Reason')

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the driver and the file of the report."""
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='The driver.')
        parser.add_argument(
            '--json',
            metavar='FILE',
            help='Write the report with all versions to this file. A package '
            'that ships it as driver-check.json beside the module of the '
            'driver shows it in "driver list".',
        )
        parser.add_argument(
            '--allow-untried',
            action='store_true',
            help='Exit with 0 also if the world gives nothing to try a rule '
            'with that concerns the driver.',
        )
        return parser

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        with _stopped_by_sigterm():
            return super().run(parsed_args)

    def rows(
        self, parsed_args: argparse.Namespace
    ) -> tuple[listing.Rows, str | None, int]:
        """Return a row for each rule."""
        lacking = [n for n in _NEEDED if importlib.util.find_spec(n) is None]
        if lacking:
            raise errors.ConfigError(
                f'driver check needs {lacking[0]}: '
                "pip install 'compute-agent[testing]'"
            )
        given = parsed_args.json
        file = None if given is None else report_file.ReportFile(given)
        report = self._checked(parsed_args.name)
        result = report['result']
        code = _exit_code(result, allows=parsed_args.allow_untried)
        if file is not None:
            try:
                file.write(report)
            except errors.ConfigError as exc:
                self.say(str(exc))
                code = 1
        return (
            [
                (row['number'], row['title'], row['status'], row['reason'])
                for row in report['rules']
            ],
            f'driver {parsed_args.name}, contract {report["contract"]}: '
            + ', '.join(
                f'{count} {status}' for status, count in result.items()
            ),
            code,
        )

    def _checked(self, name: str) -> dict[str, typing.Any]:
        from ...testing import checking  # noqa: PLC0415 (needs pytest)

        conf = configuration.load(self.app.global_options, local=True)

        def make() -> virt.ComputeDriver:
            with configuration.explained(conf):
                return loader.load(name, conf)

        with progress.bar(self.app.stderr, 'rules') as advance:
            return checking.check(name, make, advance)


def _exit_code(result: dict[str, int], *, allows: bool) -> int:
    """Return 0 if no rule is broken, and each was tried that has to be."""
    untried = 0 if allows else result['not tried']
    return 1 if result['failed'] or untried else 0


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the work as SIGINT does, so that no folder is left.

    :raises SystemExit: the signal came
    """
    came = False

    def stop(number: int, _frame: types.FrameType | None) -> typing.NoReturn:
        nonlocal came
        came = True
        signal.signal(number, signal.SIG_DFL)  # the second one kills
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        if came:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, earlier)
