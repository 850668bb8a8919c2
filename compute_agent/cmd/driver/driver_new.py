# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver new``: a small package with a driver that works."""

import argparse
import pathlib
import typing

from ..app import command
from . import new_names, new_package


class DriverNew(command.Report):
    """Write a small package with a driver, as a start for your own.

    Its tests pass at once, among them those of the driver contract. The
    driver describes the nodes of a JSON file; replace the module that reads
    the file, and the method that describes a node.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the name and the directory."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name',
            metavar='NAME',
            help='The name of the driver, as compute_driver will name it: '
            'lower-case letters, digits and single underscores.',
        )
        parser.add_argument(
            '--directory',
            metavar='DIR',
            default='.',
            help='The directory in which the package gets a folder (default: '
            'the current directory).',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Write the package, and return its files."""
        names = new_names.Names.of(parsed_args.name)
        new_names.check_free(names)
        folder = pathlib.Path(parsed_args.directory) / names.distribution
        files = new_package.contents(names)
        new_package.write(files, folder)
        paths = sorted(files)
        data = {'driver': names.name, 'folder': str(folder), 'files': paths}
        lines = [
            f'created the driver {names.name} in {folder}:',
            *(f'  {path}' for path in paths),
            f'next: cd {folder} && pip install -e ".[test]" && pytest',
        ]
        return data, '\n'.join(lines), 0
