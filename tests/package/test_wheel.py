# SPDX-License-Identifier: Apache-2.0
"""What a user installs: the three packages, whole, and nothing beside."""

import configparser
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PACKAGES = ('compute_agent', 'drivers', 'report_client')


def _declared_entry_points():
    setup = configparser.ConfigParser()
    setup.optionxform = str
    setup.read(ROOT / 'setup.cfg')
    for group, lines in setup['options.entry_points'].items():
        for line in lines.strip().splitlines():
            yield f'{group}: {line.partition("=")[0].strip()}'


def _checked_out():
    for package in PACKAGES:
        for path in (ROOT / package).rglob('*'):
            if path.is_file() and '__pycache__' not in path.parts:
                yield path.relative_to(ROOT).as_posix()


def test_its_top_level_names_are_the_three_packages(wheel_files):
    tops = {name.partition('/')[0] for name in wheel_files}
    (metadata,) = (top for top in tops if top.endswith('.dist-info'))
    assert metadata.startswith('compute_agent-')
    assert tops - {metadata} == set(PACKAGES)


def test_every_file_of_the_packages_is_in_and_no_other(wheel_files):
    shipped = {n for n in wheel_files if n.partition('/')[0] in PACKAGES}
    assert shipped == set(_checked_out())


@pytest.mark.parametrize('package', PACKAGES)
def test_a_package_is_typed_and_no_namespace(wheel_files, package):
    assert {f'{package}/py.typed', f'{package}/__init__.py'} <= wheel_files


def test_the_licence_is_in(wheel_files):
    assert any(name.endswith('/LICENSE') for name in wheel_files)


@pytest.mark.parametrize('name', sorted(_declared_entry_points()))
def test_an_entry_point_loads_from_the_wheel(entry_points, name):
    assert entry_points[name] == ''


def test_no_entry_point_is_undeclared(entry_points):
    assert sorted(entry_points) == sorted(_declared_entry_points())


def test_the_command_runs_from_the_wheel(installed, tmp_path):
    command = installed.with_name('compute-agent')
    done = subprocess.run(
        [command, '--help'],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert 'placement serve' in done.stdout
