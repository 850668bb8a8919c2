# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver check``: an installed driver against its contract.

The rules take minutes, so a folder that cannot be written is refused before
they are checked.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import signal
import tempfile
import threading
import types
import typing
from collections.abc import Iterator
from typing import Any

from ... import errors, extras
from ...virt import driver as virt
from ...virt import loader
from ..app import configuration, listing, progress

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

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the driver and the file of the report."""
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

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; return its exit code."""
        with _stopped_by_sigterm():
            return super().run(parsed_args)

    def rows(self, parsed_args: argparse.Namespace) -> listing.Listed:
        """Return a row for each rule."""
        lacking = [n for n in _NEEDED if importlib.util.find_spec(n) is None]
        if lacking:
            raise errors.ConfigError(
                f'driver check needs {lacking[0]}: {extras.advice("testing")}'
            )
        given = parsed_args.json
        file = None if given is None else ReportFile(given)
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

        # As for the bar: a line about the rule that runs is no use in a file.
        slow = self.say if self.app.stderr.isatty() else None
        with progress.bar(self.app.stderr, 'rules') as advance:
            return checking.check(name, make, advance, slow)


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


class ReportFile:
    """The file that gets the report; a device or a pipe is written to.

    The file is replaced as a whole: a reader never sees half.
    """

    def __init__(self, path: str) -> None:
        """Find the file.

        :raises errors.ConfigError: it cannot be written
        """
        self._given = path
        # A symbolic link stays; the file that it names is replaced.
        self._path = pathlib.Path(os.path.realpath(path))
        try:
            is_folder = self._path.is_dir()
            if self._is_replaced:
                tempfile.TemporaryFile(dir=self._path.parent).close()
        except OSError as exc:
            raise self._unwritable(exc.strerror) from exc
        if is_folder:
            raise self._unwritable('it is a folder')

    def write(self, report: dict[str, Any]) -> None:
        """Write the report.

        :raises errors.ConfigError: it cannot be written
        """
        text = json.dumps(report, indent=2, ensure_ascii=False)
        try:
            if self._is_replaced:
                self._replace(f'{text}\n')
            else:
                self._path.write_text(f'{text}\n', 'utf-8')
        except OSError as exc:
            raise self._unwritable(exc.strerror) from exc

    @property
    def _is_replaced(self) -> bool:
        return self._path.is_file() or not self._path.exists()

    def _replace(self, text: str) -> None:
        beside = self._path.with_name(f'.{self._path.name}.{os.getpid()}')
        try:
            beside.write_text(text, 'utf-8')
            beside.replace(self._path)
        finally:
            beside.unlink(missing_ok=True)

    def _unwritable(self, why: str | None) -> errors.ConfigError:
        return errors.ConfigError(
            f'--json: {self._given} cannot be written: {why}'
        )
