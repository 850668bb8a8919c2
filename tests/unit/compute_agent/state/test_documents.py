# SPDX-License-Identifier: Apache-2.0
"""The documents have the whole record, and SQLite notes each change of it."""

import contextlib
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent.state import documents
from compute_agent.state.database import schema

UUIDS = [f'{n}0000000-0000-4000-8000-000000000000' for n in range(1, 4)]
#: What is no part of the record: placement can be asked again, and the rest is
#: about this file alone.
OF_THIS_FILE = {
    'agent',
    'known',
    'reading',
    'shared',
    'site',
    'was',
    'written',
}
TEXTS = st.text(
    st.characters(exclude_categories=['Cs'], exclude_characters='\0')
)


def empty():
    db = schema.connect(':memory:')
    db.executescript(schema.SCHEMA)
    return contextlib.closing(db)


def columns(db, table):
    """Return name → (type, not null) of a table's columns."""
    return {
        name: (kind.lower(), bool(not_null))
        for _, name, kind, not_null, *_ in db.execute(
            f'pragma table_info({table})'
        )
    }


def value(name, kind, *, not_null):
    """Return the values that a column may have."""
    if name == 'uuid':
        return st.sampled_from(UUIDS)
    if name == 'site':
        return st.integers(1, 3)
    found = {
        'text': TEXTS,
        'integer': st.integers(-(2**63), 2**63 - 1),
        'real': st.floats(allow_nan=False),
    }[kind or 'integer']
    return found if not_null else st.none() | found


@st.composite
def records(draw):
    """Return rows of every table of the record, by table and column."""
    with empty() as db:
        found = {}
        for table in documents.TABLES:
            kinds = columns(db, table.name)
            keys = key_columns(db, table.name)
            row = st.fixed_dictionaries(
                {
                    name: value(name, kind, not_null=not_null or name in keys)
                    for name, (kind, not_null) in kinds.items()
                }
            )
            found[table.name] = draw(st.lists(row, max_size=4))
    return found


def key_columns(db, table):
    return {
        name
        for _, name, _, _, _, key in db.execute(f'pragma table_info({table})')
        if key
    }


def fill(db, record):
    """Add rows; of those that exclude each other, the first one stays."""
    db.executemany(
        'insert or ignore into site (name) values (?)',
        [('s1',), ('s2',), ('s3',)],
    )
    for table, rows in record.items():
        for row in rows:
            names, marks = ', '.join(row), ', '.join('?' * len(row))
            db.execute(
                f'insert or ignore into {table} ({names}) values ({marks})',
                tuple(row.values()),
            )


def content(db):
    """Return all rows of the record; a site is called by its name."""
    names = dict(db.execute('select id, name from site'))
    found = {}
    for table in documents.TABLES:
        kinds = columns(db, table.name)
        found[table.name] = sorted(
            (
                tuple(
                    names[v] if name == 'site' else v
                    for name, v in zip(kinds, row, strict=True)
                )
                for row in db.execute(f'select * from {table.name}')
            ),
            key=repr,
        )
    return found


def test_each_table_is_in_the_documents_or_of_this_file_alone():
    with empty() as db:
        found = {
            name
            for (name,) in db.execute(
                "select name from sqlite_master where type = 'table'"
            )
        }
        shared = {table.name for table in documents.TABLES}
        assert found == shared | OF_THIS_FILE | {'history'}
        for table in documents.TABLES:
            names = list(columns(db, table.name))
            assert sorted(names) == sorted(
                [*['uuid'] * table.has_uuid, *table.columns]
            )
        assert set(columns(db, 'history')) == {'id', *documents.HISTORY}


@given(records())
def test_the_documents_are_the_whole_record(record):
    with empty() as one, empty() as other:
        fill(one, record)
        # The services have other numbers there.
        other.execute("insert into site (name) values ('another')")
        other.execute("insert into site (name) values ('s3')")
        written = documents.read(one)
        documents.replace(other, written)
        assert content(other) == content(one)
        assert documents.read(other) == written


@given(records(), records())
def test_the_noted_documents_make_another_copy_equal(before, after):
    with empty() as one, empty() as other:
        fill(one, before)
        documents.replace(other, documents.read(one))
        documents.watch(one)
        for name, kept, moved in zip(
            (t.name for t in documents.TABLES if t.has_uuid),
            itertools.cycle(UUIDS),
            itertools.cycle(UUIDS[::-1]),
            strict=False,
        ):
            one.execute(f'delete from {name} where uuid = ?', (kept,))
            one.execute(
                f'update or ignore {name} set uuid = ? where uuid = ?',
                (kept, moved),
            )
        one.execute('delete from approval where given_at < 0')
        one.execute('update approval set given_at = 1')
        fill(one, after)
        changed = documents.read(one, documents.touched(one))
        documents.replace(other, changed)
        assert content(other) == content(one)
        documents.forget_touched(one)
        assert documents.touched(one) == []


def test_the_entries_of_a_transaction_are_noted():
    with empty() as db:
        documents.watch(db)
        row = (1.5, 'n', 'u', 'by', 'what', 'done', '{}', 3)
        db.execute('insert into history values (null, ?,?,?,?,?,?,?,?)', row)
        assert documents.told(db) == [row]
        documents.forget_touched(db)
        assert documents.told(db) == []


def test_what_is_rolled_back_is_not_noted():
    with empty() as db:
        documents.watch(db)
        db.execute('begin immediate')
        db.execute('insert into taken_over values (?)', (UUIDS[0],))
        db.execute('rollback')
        assert documents.touched(db) == []


HEAD = '{"format": "compute-agent record", "version": '


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        (HEAD + '3}', 'upgrade this agent'),
        (HEAD + '1}', 'version 1'),
        (HEAD + '[]}', 'cannot be read'),
        ('{"version": 2}', 'cannot be read'),
        ('[]', 'cannot be read'),
        ('{', 'cannot be read'),
        ('[' * 100_000, 'cannot be read'),
        (HEAD + '2, "new": [[]]}', 'cannot be read'),
        (HEAD + '2, "created": [7]}', 'cannot be read'),
        (HEAD + '2, "created": [[null]]}', 'does not fit together'),
        (HEAD + '2, "created": [[[]]]}', 'a row of created is damaged'),
    ],
)
def test_a_document_that_cannot_be_read_is_told_in_one_line(text, why):
    with empty() as db:
        db.execute('begin')
        with pytest.raises(errors.ConfigError, match=why) as raised:
            documents.replace(db, {UUIDS[0]: text})
        assert '\n' not in str(raised.value)


def test_a_document_is_short_and_tells_its_version():
    with empty() as db:
        db.execute(
            "insert into ours values (?, 'trait', 'CUSTOM_A')", UUIDS[:1]
        )
        db.execute('insert into taken_over values (?)', UUIDS[:1])
        assert json.loads(documents.read(db)[UUIDS[0]]) == {
            'format': 'compute-agent record',
            'version': 2,
            'ours': [['trait', 'CUSTOM_A']],
            'taken_over': [[]],
        }


ROW = ['n', '', 'driver', None, 0.0, None, 0]


@pytest.mark.parametrize(
    ('tables', 'lists', 'has_rights'),
    [
        ({}, False, False),
        ({'node': [ROW]}, True, False),
        ({'node': [[*ROW[:3], 'yes', *ROW[4:]]]}, False, False),
        ({'node': [ROW], 'created': [[UUIDS[0]]]}, True, True),
        ({'taken_over': [[]]}, False, True),
        ({'ours': [['trait', 'CUSTOM_A']]}, False, True),
        ({'node': 7}, False, True),  # nobody can read it
    ],
)
def test_a_document_tells_the_part_of_its_share_in_a_node(
    tables, lists, has_rights
):
    text = json.dumps(
        {'format': documents.FORMAT, 'version': documents.VERSION, **tables}
    )
    assert documents.standing(UUIDS[0], text) == documents.Standing(
        lists=lists, has_rights=has_rights
    )
