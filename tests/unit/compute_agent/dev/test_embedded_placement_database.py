# SPDX-License-Identifier: Apache-2.0
"""The SQLite file: made private, held alone, refused in one line."""

import contextlib
import sqlite3

import pytest

from compute_agent import errors
from compute_agent.dev import embedded_placement


def _mode(path):
    return path.stat().st_mode & 0o777


def _execute(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_missing_file_is_made_with_its_directory_for_us_alone(tmp_path):
    path = tmp_path / 'new' / 'placement.sqlite'
    with embedded_placement.lock(path):
        assert _mode(path) == 0o600
        assert _mode(path.parent) == 0o755


def test_a_file_open_to_others_is_closed_to_them(tmp_path):
    path = tmp_path / 'placement.sqlite'
    path.touch(mode=0o644)
    with embedded_placement.lock(path):
        assert _mode(path) == 0o600


def test_what_placement_made_is_taken_again_and_read_beside_writers(tmp_path):
    path = tmp_path / 'placement.sqlite'
    _execute(
        path,
        'CREATE TABLE alembic_version (version_num)',
        'CREATE TABLE resource_providers (uuid)',
    )
    with (
        embedded_placement.lock(path),
        contextlib.closing(sqlite3.connect(path)) as connection,
    ):
        mode = connection.execute('PRAGMA journal_mode').fetchone()
    assert mode == ('wal',)


def test_a_file_is_held_once_and_free_afterwards(tmp_path):
    path = tmp_path / 'placement.sqlite'
    with (
        embedded_placement.lock(path),
        pytest.raises(errors.ConfigError, match='in use by another'),
        embedded_placement.lock(path),
    ):
        pass
    with embedded_placement.lock(path):
        pass


@pytest.mark.parametrize(
    'content',
    [b'no database at all, just text' * 50, b'SQLite format 3\0' + b'x' * 900],
    ids=['text', 'only a header'],
)
def test_a_damaged_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / 'placement.sqlite'
    path.write_bytes(content)
    with (
        pytest.raises(errors.ConfigError, match='is damaged') as caught,
        embedded_placement.lock(path),
    ):
        pass
    assert '\n' not in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content


def test_damage_behind_the_header_is_found(tmp_path):
    path = tmp_path / 'placement.sqlite'
    _execute(
        path,
        'CREATE TABLE alembic_version (version_num)',
        'CREATE TABLE resource_providers (uuid)',
        'CREATE INDEX by_uuid ON resource_providers (uuid)',
    )
    content = bytearray(path.read_bytes())
    content[-4096:] = b'\xff' * 4096
    path.write_bytes(content)
    with (
        pytest.raises(errors.ConfigError, match='is damaged'),
        embedded_placement.lock(path),
    ):
        pass


def test_another_programs_database_is_refused(tmp_path):
    path = tmp_path / 'other.sqlite'
    _execute(path, 'CREATE TABLE songs (title)')
    with (
        pytest.raises(errors.ConfigError, match='is not a placement database'),
        embedded_placement.lock(path),
    ):
        pass


def test_a_database_that_another_program_writes_is_refused(
    tmp_path, monkeypatch
):
    path = tmp_path / 'placement.sqlite'
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, 'connect', lambda where: connect(where, timeout=0)
    )
    with contextlib.closing(connect(path)) as other:
        other.execute('CREATE TABLE alembic_version (version_num)')
        other.execute('BEGIN EXCLUSIVE')
        with (
            pytest.raises(errors.ConfigError, match='database is locked'),
            embedded_placement.lock(path),
        ):
            pass


@pytest.mark.parametrize('name', ['file/placement.sqlite', 'directory'])
def test_a_place_that_cannot_be_written_is_refused(tmp_path, name):
    (tmp_path / 'file').touch()
    (tmp_path / 'directory').mkdir()
    with (
        pytest.raises(
            errors.ConfigError, match='cannot be written|not a regular file'
        ) as caught,
        embedded_placement.lock(tmp_path / name),
    ):
        pass
    assert '\n' not in str(caught.value)
