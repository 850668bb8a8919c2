# SPDX-License-Identifier: Apache-2.0
"""Writes the package of a new driver from the files in ``template/``.

A file of the template has its text with words such as ``@package@``, which
stand for the names of the driver. ``driver_new.py`` calls this module.
"""

import importlib.resources
import pathlib
import re
import shutil
from collections.abc import Mapping

from ... import errors
from . import new_names

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


def contents(names: new_names.Names) -> dict[str, str]:
    """Return the path and the text of each file of the package."""
    template = importlib.resources.files(__package__) / 'template'
    words = {
        'name': names.name,
        'distribution': names.distribution,
        'package': names.package,
        'class': names.class_name,
        'uuid_1': names.example_uuid(1),
        'uuid_2': names.example_uuid(2),
    }

    def filled(text: str) -> str:
        return _WORD.sub(lambda found: words[found[1]], text)

    return {
        filled(path): filled((template / file).read_text(encoding='utf-8'))
        for file, path in PATHS.items()
    }


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
