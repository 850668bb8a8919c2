# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver check``: an installed driver against its contract."""

import argparse
import importlib.util
import json
import pathlib
import typing

from ... import errors
from ..app import configuration, listing

_NEEDED = ('pytest', 'placement', 'waitress')


class DriverCheck(listing.Listing):
    """Check an installed driver against each rule of the contract.

    The driver runs on a placement of its own in this process; nothing is
    written to a real one. Its package gives the world: the options, and the
    sources that are made to fail. Without one, the driver is made from the
    configuration, and the rules about failing sources are skipped. Exit code
    0: no rule is broken, 1: a rule is broken, or an error.
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
        return parser

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
        report = self._checked(parsed_args.name)
        if parsed_args.json:
            _write(pathlib.Path(parsed_args.json), report)
        result = report['result']
        return (
            [
                (row['number'], row['title'], row['status'], row['reason'])
                for row in report['rules']
            ],
            f'driver {parsed_args.name}, contract {report["contract"]}: '
            + ', '.join(
                f'{count} {status}' for status, count in result.items()
            ),
            1 if result['failed'] else 0,
        )

    def _checked(self, name: str) -> dict[str, typing.Any]:
        from ...testing import checking  # noqa: PLC0415 (quick --help)
        from ...virt import driver as virt  # noqa: PLC0415
        from ...virt import loader  # noqa: PLC0415
        from ..app import progress  # noqa: PLC0415

        conf = configuration.load(self.app.global_options, local=True)

        def make() -> virt.ComputeDriver:
            with configuration.explained():
                return loader.load(name, conf)

        with progress.bar(self.app.stderr, 'rules') as advance:
            return checking.check(name, make, advance)


def _write(path: pathlib.Path, report: dict[str, typing.Any]) -> None:
    text = json.dumps(report, indent=2, ensure_ascii=False)
    try:
        path.write_text(f'{text}\n', 'utf-8')
    except OSError as exc:
        raise errors.ConfigError(
            f'--json: {path} cannot be written: {exc.strerror}'
        ) from exc
