# SPDX-License-Identifier: Apache-2.0
"""``compute-agent driver new``: a small package with a driver that works.

A file in ``template/`` has its text with words such as ``@package@``, which
stand for the names of the driver. All names follow from the driver's name.
"""

import argparse
import dataclasses
import importlib.metadata
import importlib.resources
import importlib.util
import pathlib
import re
import shutil
import typing
import uuid
from collections.abc import Mapping

from oslo_config import cfg
from oslo_log import log

from ... import conf as agent_conf
from ... import deprecation, error_text, errors
from ...virt import loader
from ..app import command

_NAME = re.compile(r'[a-z][a-z0-9]*(_[a-z0-9]+)*')
_LONGEST = 40
# A file of the template → its path in the new package.
PATHS: Mapping[str, str] = {
    'README.md.in': 'README.md',
    'ci.yml.in': '.github/workflows/test.yml',
    'dev.conf.in': 'dev.conf',
    'nodes.json.in': 'nodes.json',
    'pyproject.toml.in': 'pyproject.toml',
    'package/__init__.py.in': '@package@/__init__.py',
    'package/conf.py.in': '@package@/conf.py',
    'package/contract.py.in': '@package@/contract.py',
    'package/driver.py.in': '@package@/driver.py',
    'package/source.py.in': '@package@/source.py',
    'tests/test_contract.py.in': 'tests/test_contract.py',
    'tests/test_driver.py.in': 'tests/test_driver.py',
}
_WORD = re.compile(r'@(\w+)@')


class DriverNew(command.Report):
    """Write a small package with a driver, as a start for your own.

    Its tests pass at once, among them those of the driver contract. The
    driver describes the nodes of a JSON file; replace the module that reads
    the file, and the method that describes a node.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the name and the directory."""
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

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Write the package, and return its files."""
        names = Names.of(parsed_args.name)
        check_free(names)
        folder = pathlib.Path(parsed_args.directory) / names.distribution
        files = contents(names)
        write(files, folder)
        paths = sorted(files)
        data = {'driver': names.name, 'folder': str(folder), 'files': paths}
        lines = [
            f'created the driver {names.name} in {folder}:',
            *(f'  {path}' for path in paths),
            f'next: cd {folder} && pip install -e ".[test]" && pytest',
        ]
        return data, '\n'.join(lines), 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in one package.

    :ivar name: the entry point, and the group of the driver's options
    :ivar distribution: the name for pip, and of the folder
    :ivar package: the name that Python imports
    :ivar class_name: the beginning of the names of its classes
    """

    name: str
    distribution: str
    package: str
    class_name: str

    @classmethod
    def of(cls, name: str) -> typing.Self:
        """Return the names that follow from a driver's name.

        :raises errors.ConfigError: the name is not valid
        """
        if not _NAME.fullmatch(name) or len(name) > _LONGEST:
            raise errors.ConfigError(
                f'{error_text.excerpt(name)} cannot be the name of a driver: '
                'use lower-case letters, digits and single underscores, at '
                f'most {_LONGEST} characters, with a letter first, such as '
                'rack_power'
            )
        return cls(
            name=name,
            distribution=f'{name.replace("_", "-")}-driver',
            package=f'{name}_driver',
            class_name=''.join(map(str.capitalize, name.split('_'))),
        )

    def example_uuid(self, node: int) -> str:
        """Return the uuid of a node in the example; no two drivers share it."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f'{self.name} {node}'))


def check_free(names: Names) -> None:
    """Refuse names that are in use here.

    :raises errors.ConfigError: a driver, an option of the agent, a Python
        package or a distribution has one of the names
    """
    for problem in (_driver, _option, _package, _distribution):
        found = problem(names)
        if found:
            raise errors.ConfigError(f'{found}; choose another name')


def _driver(names: Names) -> str:
    for one in loader.installed():
        if one.name == names.name:
            return f'a driver {names.name} is installed already: {one}'
    return ''


def _option(names: Names) -> str:
    """Name an option or a group that the driver's group would hide."""
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf, agent_conf.groups())
    log.register_options(conf)
    if names.name in conf:
        return (
            f'the agent has options under the name {names.name}, which the '
            f'group [{names.name}] of the driver would hide'
        )
    return ''


def _package(names: Names) -> str:
    if importlib.util.find_spec(names.package) is None:
        return ''
    return f'a Python package {names.package} is installed already'


def _distribution(names: Names) -> str:
    try:
        version = importlib.metadata.version(names.distribution)
    except importlib.metadata.PackageNotFoundError:
        return ''
    return f'{names.distribution} {version} is installed already'


def contents(names: Names) -> dict[str, str]:
    """Return the path and the text of each file of the package."""
    template = importlib.resources.files(__package__) / 'template'
    words = {
        'name': names.name,
        'distribution': names.distribution,
        'package': names.package,
        'class': names.class_name,
        'contract': deprecation.CONTRACT_VERSION,
        'agent': agent_requirement(),
        'uuid_1': names.example_uuid(1),
        'uuid_2': names.example_uuid(2),
    }

    def filled(text: str) -> str:
        return _WORD.sub(lambda found: words[found[1]], text)

    return {
        filled(path): filled((template / file).read_text(encoding='utf-8'))
        for file, path in PATHS.items()
    }


def agent_requirement() -> str:
    """Return the versions of the agent for which the package is made."""
    installed = importlib.metadata.version('compute-agent')
    release = re.match(r'(\d+)(\.\d+)*(\.dev)?', installed)
    if release is None:
        return 'compute-agent'
    # pip takes a version before a release if a requirement names one.
    least = f'{release[0]}0' if release[3] else release[0]
    return f'compute-agent>={least},<{int(release[1]) + 1}'


def write(files: Mapping[str, str], folder: pathlib.Path) -> None:
    """Write these files into a new folder; if one fails, remove the folder.

    :param files: path in the folder → text
    :raises errors.ConfigError: the folder exists, or cannot be written
    """
    try:
        folder.mkdir()
    except FileExistsError as exc:
        raise errors.ConfigError(
            f'{folder} exists and is not overwritten; remove it, or choose '
            'another --directory'
        ) from exc
    except OSError as exc:
        raise _unwritable(folder, exc) from exc
    try:
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding='utf-8')
    except OSError as exc:
        shutil.rmtree(folder, ignore_errors=True)
        raise _unwritable(folder, exc) from exc


def _unwritable(folder: pathlib.Path, exc: OSError) -> errors.ConfigError:
    return errors.ConfigError(
        f'{folder} cannot be written: {exc.strerror}; choose a --directory '
        'that exists and that you may write to'
    )
