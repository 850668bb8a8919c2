# SPDX-License-Identifier: Apache-2.0
"""The files of a new driver's package, and the folder that they go to."""

import ast
import json
import pathlib
import re
import tomllib

import pytest
import yaml

from compute_agent import errors
from compute_agent.cmd.driver import driver_new

NAMES = driver_new.Names.of('rack_power')
FILES = driver_new.contents(NAMES)


def test_every_file_of_the_template_is_used():
    folder = pathlib.Path(driver_new.__file__).with_name('template')
    files = [path for path in folder.rglob('*') if path.is_file()]
    found = {str(path.relative_to(folder)) for path in files}
    assert found == set(driver_new.PATHS)


def test_no_word_of_the_template_is_left():
    for path, text in FILES.items():
        assert not re.search(r'@\w+@', path + text), path


def test_the_files_are_what_their_names_say():
    readers = {
        '.json': json.loads,
        '.py': ast.parse,
        '.toml': tomllib.loads,
        '.yml': yaml.safe_load,
    }
    read = [
        reader(text)
        for path, text in FILES.items()
        if (reader := readers.get(pathlib.PurePath(path).suffix))
    ]
    assert len(read) >= 8


def test_no_line_of_python_is_longer_than_79_characters():
    for path, text in FILES.items():
        if path.endswith('.py'):
            assert max(map(len, text.splitlines())) <= 79, path


def test_the_folder_has_all_files(tmp_path):
    driver_new.write(FILES, tmp_path / 'new')
    written = {
        str(path.relative_to(tmp_path / 'new')): path.read_text()
        for path in (tmp_path / 'new').rglob('*')
        if path.is_file()
    }
    assert written == FILES


@pytest.mark.parametrize('kind', ['folder', 'file', 'link'])
def test_a_folder_that_exists_is_not_touched(tmp_path, kind):
    folder = tmp_path / 'new'
    match kind:
        case 'folder':
            folder.mkdir()
        case 'file':
            folder.write_text('mine')
        case _:
            folder.symlink_to('nowhere')
    with pytest.raises(errors.ConfigError, match='exists and is not overwr'):
        driver_new.write(FILES, folder)
    assert [path.name for path in tmp_path.rglob('*')] == ['new']


def test_a_directory_that_is_missing_is_named(tmp_path):
    folder = tmp_path / 'nowhere' / 'new'
    with pytest.raises(errors.ConfigError) as exc:
        driver_new.write(FILES, folder)
    assert str(exc.value) == (
        f'{folder} cannot be written: No such file or directory; choose a '
        '--directory that exists and that you may write to'
    )


def test_a_package_that_cannot_be_written_whole_is_removed(tmp_path):
    blocked = {'file': 'text', 'file/below': 'text'}
    with pytest.raises(errors.ConfigError, match='cannot be written: '):
        driver_new.write(blocked, tmp_path / 'new')
    assert not (tmp_path / 'new').exists()
