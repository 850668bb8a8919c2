# SPDX-License-Identifier: Apache-2.0
"""The URL of the shared database, and the messages of its failures."""

import importlib

import pytest

from compute_agent import errors
from compute_agent.fleet import database
from compute_agent.fleet.database import connection, schema


@pytest.mark.parametrize(
    'url',
    [
        '',
        'postgresql',
        'postgresql://user:secret@host/name',
        'mysql://user:secret@host/name',
        'mariadb+asyncmy://user:secret@host/name',
        'postgresql+psycopg://user:secret@host:port/name',
        'http://user:secret@host/name',
        'postgresql+psycopg://user:pass@secret@host/name',
        'mysql+pymysql://user@host/pass@secret',
        'mysql+pymysql://user@host/name?pass@secret=1',
    ],
)
def test_a_url_that_is_no_database_is_refused(url):
    with pytest.raises(errors.ConfigError, match='state_connection') as caught:
        connection.engine(url)
    assert 'postgresql+psycopg://USER:PASSWORD@HOST/NAME' in str(caught.value)
    assert 'secret' not in str(caught.value)


def test_a_url_without_a_database_is_refused():
    with pytest.raises(errors.ConfigError, match='names no database'):
        connection.engine('postgresql+psycopg://user:secret@host')


@pytest.mark.parametrize(
    ('options', 'reason'),
    [
        ('bogus=1', 'bogus'),
        ('charset=bogus', 'encoding'),
        ('read_timeout=x', "'x'"),
        ('plugin=bogus', 'bogus'),
    ],
)
def test_a_wrong_option_of_the_url_is_one_line(options, reason):
    with pytest.raises(errors.ConfigError) as caught:
        schema.version(
            connection.engine(
                f'mysql+pymysql://user:secret@127.0.0.1:1/name?{options}'
            )
        )
    said = str(caught.value)
    assert reason in said
    assert said.endswith('correct it, or leave it out')
    assert 'secret' not in said


@pytest.mark.parametrize('scheme', ['postgresql+psycopg', 'mysql+pymysql'])
def test_the_place_of_a_database_has_no_password(scheme):
    made = connection.engine(f'{scheme}://user:secret@host:77/name?a=secret')
    assert connection.place(made) == f'{scheme}://host:77/name'


def test_without_the_extra_one_line_says_so(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        'find_spec',
        lambda name: None if name == 'alembic' else found(name),
    )
    with pytest.raises(errors.ConfigError, match='needs alembic.*fleet'):
        importlib.reload(database)
