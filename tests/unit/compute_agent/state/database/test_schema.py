# SPDX-License-Identifier: Apache-2.0
"""The state database as a file: its permissions, versions and refusals."""

import concurrent.futures
import contextlib
import os
import sqlite3
import threading

import pytest

from compute_agent import errors
from compute_agent.ownership.record import Record
from compute_agent.plan import intents
from compute_agent.state import state
from compute_agent.state.database import database, schema
from compute_agent.state.nodes import KnownNode
from compute_agent.tree import assertion, provider

NODE = '11111111-1111-4111-8111-111111111111'
CREATION = intents.Intent(node_uuid=NODE, uuid=NODE, kind=None, generation=0)


def opened(directory, site='here'):
    return contextlib.closing(state.State.open(directory, site))


def looked(directory, site='here'):
    return contextlib.closing(state.State.open_copy(directory, site))


def reading(generation=1):
    return provider.Reading(
        provider=provider.Provider(
            uuid=NODE, name='node-1', generation=generation
        ),
        root_uuid=NODE,
        read_at=1.0,
    )


def test_what_was_written_is_there_after_a_restart(tmp_path):
    with opened(tmp_path) as first:
        first.journal.begin(NODE, [CREATION], {})
        first.journal.record_outcome([CREATION], readings=[reading()])
    with opened(tmp_path) as second:
        assert second.records.record([NODE], NODE).created == {NODE}
        assert second.snapshot.readings([NODE]) == {NODE: reading()}


def test_what_was_written_is_there_without_a_close(tmp_path):
    with opened(tmp_path) as first:
        first.journal.begin(NODE, [CREATION], {})
        with opened(tmp_path) as second:
            assert second.journal.intents([NODE]).get(NODE, {}) == {
                NODE: [CREATION]
            }


@pytest.mark.parametrize('way', ['open', 'open_beside', 'open_copy'])
def test_a_directory_in_its_place_is_told(tmp_path, way):
    (tmp_path / schema.FILE_NAME).mkdir()
    with pytest.raises(errors.ConfigError, match='is a directory, not a reg'):
        getattr(database.Database, way)(tmp_path)


@pytest.mark.parametrize('way', ['open', 'open_beside', 'open_copy'])
def test_a_directory_that_hides_its_files_has_no_empty_database(tmp_path, way):
    directory = tmp_path / 'state'
    opened(directory).thing.close()
    directory.chmod(0)
    before = os.geteuid()
    if not before:  # root may look everywhere
        os.seteuid(65534)
    try:
        with pytest.raises(errors.ConfigError, match='cannot be used'):
            getattr(database.Database, way)(directory)
    finally:
        os.seteuid(before)
        directory.chmod(0o700)


def test_the_directory_is_made(tmp_path):
    with opened(tmp_path / 'a' / 'b'):
        assert (tmp_path / 'a' / 'b' / 'state.sqlite').exists()


def test_it_is_for_its_owner_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        with opened(tmp_path) as one:
            one.journal.save([reading()])
            for path in tmp_path.iterdir():
                assert path.stat().st_mode & 0o777 == 0o600, path
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path):
    opened(tmp_path).thing.close()
    file = tmp_path / schema.FILE_NAME
    file.chmod(0o644)
    with opened(tmp_path) as one:
        one.journal.save([reading()])
        for path in tmp_path.iterdir():
            assert path.stat().st_mode & 0o777 == 0o600, path


def test_a_file_that_is_closed_already_is_not_touched(tmp_path):
    opened(tmp_path).thing.close()
    file = tmp_path / schema.FILE_NAME
    file.chmod(0o600)
    before = file.stat().st_ctime_ns
    schema.make_private(file)
    assert file.stat().st_ctime_ns == before


def test_a_file_of_another_user_is_refused_as_it_is(tmp_path, monkeypatch):
    file = tmp_path / schema.FILE_NAME
    file.touch()
    file.chmod(0o664)
    monkeypatch.setattr(schema.os, 'geteuid', lambda: os.getuid() + 1)
    with pytest.raises(errors.ConfigError, match='belongs to user'):
        schema.make_private(file)
    assert file.stat().st_mode & 0o777 == 0o664


@pytest.mark.parametrize('suffix', ['', '-wal', '-shm', '-journal'])
@pytest.mark.parametrize('opening', ['open', 'open_copy'])
def test_no_file_of_it_is_opened_through_a_link(tmp_path, suffix, opening):
    target = tmp_path / 'target'
    directory = tmp_path / 'state'
    opened(directory).thing.close()
    link = directory / (schema.FILE_NAME + suffix)
    link.unlink(missing_ok=True)
    target.write_text('precious')
    link.symlink_to(target)
    (directory / schema.FILE_NAME).touch()
    with pytest.raises(errors.ConfigError, match=f'{link} is a link'):
        getattr(database.Database, opening)(directory)
    assert target.read_text() == 'precious'


def test_a_directory_that_is_made_is_for_its_owner_whatever_the_umask(
    tmp_path,
):
    before = os.umask(0)
    try:
        with opened(tmp_path / 'a' / 'b'):
            for made in (tmp_path / 'a', tmp_path / 'a' / 'b'):
                assert made.stat().st_mode & 0o777 == 0o755
    finally:
        os.umask(before)


def test_two_sites_in_one_file_do_not_see_each_other_s_readings(tmp_path):
    with opened(tmp_path, 'one') as one, opened(tmp_path, 'two') as two:
        for each, generation in ((one, 1), (two, 2)):
            each.journal.save([reading(generation)])
        one.journal.forget([NODE])
        assert two.snapshot.readings([NODE])[NODE].provider.generation == 2
        assert two.snapshot.members([NODE]).get(NODE, set()) == {NODE}
        assert one.snapshot.members([NODE]).get(NODE, set()) == set()


def test_what_was_added_is_known_under_any_spelling_of_the_site(tmp_path):
    with opened(tmp_path, 'one') as one:
        one.journal.begin(NODE, [CREATION], {})
        one.journal.record_outcome([CREATION])
    with opened(tmp_path, 'two') as two:
        assert two.records.record([NODE], NODE).created == {NODE}


def test_a_file_that_is_replaced_is_not_written_to(tmp_path):
    with opened(tmp_path) as one:
        (tmp_path / schema.FILE_NAME).unlink()
        with pytest.raises(errors.Unavailable, match='removed or replaced'):
            one.journal.save([reading()])


def test_to_point_elsewhere_and_back_loses_nothing(tmp_path):
    with opened(tmp_path, 'one') as one:
        one.journal.save([reading()])
    with opened(tmp_path, 'two') as two:
        assert two.snapshot.readings([NODE]) == {}
    with opened(tmp_path, 'one') as one:
        assert one.snapshot.readings([NODE]) == {NODE: reading()}


# --- looking -----------------------------------------------------------------


def test_a_look_sees_what_is_there(tmp_path):
    with opened(tmp_path) as daemon:
        daemon.journal.save([reading()])
        with looked(tmp_path) as look:
            assert look.snapshot.readings([NODE]) == {NODE: reading()}


def test_a_look_is_never_written_back(tmp_path):
    with opened(tmp_path) as daemon:
        daemon.journal.save([reading()])
    before = (tmp_path / 'state.sqlite').read_bytes()
    with looked(tmp_path) as look:
        look.journal.begin(NODE, [CREATION], {})
        look.journal.record_outcome([CREATION], readings=[reading(9)])
        look.site.save_known_names(None)
        assert look.records.record([NODE], NODE).created == {NODE}
    assert (tmp_path / 'state.sqlite').read_bytes() == before
    with opened(tmp_path) as daemon:
        assert daemon.records.record([NODE], NODE).created == set()
        assert daemon.snapshot.readings([NODE])[NODE].provider.generation == 1


def test_a_look_of_another_site_adds_no_site(tmp_path):
    with opened(tmp_path, 'one') as one:
        one.journal.save([reading()])
    with looked(tmp_path, 'two') as look:
        assert look.snapshot.readings([NODE]) == {}
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        assert db.execute('select name from site').fetchall() == [('one',)]
    db.close()


def test_a_look_where_nothing_is_makes_nothing(tmp_path):
    with looked(tmp_path / 'no') as look:
        assert look.snapshot.readings([NODE]) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_look_where_a_first_start_was_cut_off_is_an_empty_one(tmp_path):
    (tmp_path / 'state.sqlite').touch()
    with looked(tmp_path) as look:
        assert look.snapshot.readings([NODE]) == {}


def test_a_start_goes_on_where_a_first_one_was_cut_off(tmp_path):
    (tmp_path / 'state.sqlite').touch()
    with opened(tmp_path) as one:
        one.journal.save([reading()])


@pytest.mark.parametrize('name', ['a b', 'ä#?%41'])
def test_a_look_finds_its_way_to_any_directory(tmp_path, name):
    with opened(tmp_path / name) as daemon:
        daemon.journal.save([reading()])
    with looked(tmp_path / name) as look:
        assert look.snapshot.readings([NODE]) == {NODE: reading()}


# --- files of earlier versions ------------------------------------------------

# A file of schema version 1: the agent created a node, added a trait, claimed
# it, has a write that is not confirmed, and read placement.
VERSION_1 = f"""
create table site (id integer primary key, name text unique not null);
create table created (uuid text primary key, node_uuid text not null)
    without rowid;
create table ours (
    uuid text, kind text, name text,
    primary key (uuid, kind, name)) without rowid;
create table held (
    uuid text, kind text, source text, names text not null,
    primary key (uuid, kind, source)) without rowid;
create table intent (
    node_uuid text, position integer, uuid text not null,
    kind text, generation integer not null, names text not null,
    added text not null, primary key (node_uuid, position))
    without rowid;
create index intent_uuid on intent (uuid);
create table reading (
    site integer, uuid text, root_uuid text not null, name text not null,
    parent_uuid text, generation integer not null, content text not null,
    read_at real not null, suspect integer not null,
    primary key (site, uuid)) without rowid;
create index reading_root on reading (site, root_uuid);
create table known (
    site integer primary key, traits text not null, classes text not null,
    read_at real not null);
insert into site values (1, 'there'), (2, 'here');
insert into created values ('{NODE}', '{NODE}');
insert into ours values ('{NODE}', 'trait', 'CUSTOM_X');
insert into held values ('{NODE}', 'trait', 'driver', '["CUSTOM_X"]');
insert into intent values ('{NODE}', 0, '{NODE}', null, 0, '[]', '[]');
insert into reading values
    (2, '{NODE}', '{NODE}', 'node-1', null, 3,
     '[{{}}, ["CUSTOM_X"], []]', 1.0, 0);
insert into known values (2, '["CUSTOM_X"]', '["VCPU"]', 1.0);
pragma user_version = 1;
"""
KNOWN = {
    NODE: KnownNode(
        name='node-1', asked_at=2.5, drivers=frozenset({'rack:Rack'})
    )
}


@pytest.fixture
def version_1(tmp_path):
    with contextlib.closing(
        sqlite3.connect(tmp_path / 'state.sqlite', isolation_level=None)
    ) as db:
        db.execute('pragma journal_mode = wal')
        db.executescript(VERSION_1)
    return tmp_path


def check_record_of_version_1(one):
    key = (NODE, assertion.Kind.TRAIT)
    assert one.records.record([NODE], NODE) == Record(
        created=frozenset({NODE}),
        ours={key: frozenset({'CUSTOM_X'})},
        claims={key: {'driver': frozenset({'CUSTOM_X'})}},
        taken_over=frozenset({NODE}),
    )
    assert one.journal.intents([NODE]).get(NODE, {}) == {NODE: [CREATION]}
    assert one.snapshot.readings([NODE])[NODE].provider.traits == {'CUSTOM_X'}
    assert one.site.known_names().resource_classes == {'VCPU'}


def version(directory):
    with contextlib.closing(sqlite3.connect(directory / 'state.sqlite')) as db:
        return db.execute('pragma user_version').fetchone()[0]


def test_a_file_of_version_1_keeps_its_record_and_learns_nodes(version_1):
    with opened(version_1) as one:
        check_record_of_version_1(one)
        assert one.nodes.of_drivers(['rack:Rack']) == {}
        one.nodes.keep(KNOWN)
    assert version(version_1) == schema.SCHEMA_VERSION
    with opened(version_1) as one:
        check_record_of_version_1(one)
        assert one.nodes.of_drivers(['rack:Rack']) == KNOWN


def test_a_look_at_a_file_of_version_1_leaves_it_one(version_1):
    before = (version_1 / 'state.sqlite').read_bytes()
    with looked(version_1) as one:
        check_record_of_version_1(one)
        one.nodes.keep(KNOWN)
        assert one.nodes.of_drivers(['rack:Rack']) == KNOWN
    assert (version_1 / 'state.sqlite').read_bytes() == before
    assert version(version_1) == 1


def test_two_that_open_a_file_of_version_1_at_once_both_do(version_1):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        start = threading.Barrier(2)

        def open_it():
            start.wait()
            with opened(version_1) as one:
                check_record_of_version_1(one)

        for opening in [pool.submit(open_it) for _ in range(2)]:
            opening.result()
    assert version(version_1) == schema.SCHEMA_VERSION


def test_a_migration_that_fails_leaves_the_file_as_it_was(version_1):
    with contextlib.closing(
        sqlite3.connect(version_1 / 'state.sqlite', isolation_level=None)
    ) as db:
        db.execute('create table node (of_somebody_else text)')
    for how in (opened, looked):
        assert 'table node already exists' in refused(how, version_1)
    assert version(version_1) == 1


def test_a_migrated_file_has_the_tables_of_a_new_one(version_1, tmp_path):
    with opened(version_1), opened(tmp_path / 'new'):
        pass
    old, new = (
        set(tables(directory)) for directory in (version_1, tmp_path / 'new')
    )
    assert old == new


def tables(directory):
    with contextlib.closing(sqlite3.connect(directory / 'state.sqlite')) as db:
        return [
            (name, ' '.join(sql.split()) if sql else None)
            for name, sql in db.execute('select name, sql from sqlite_master')
        ]


# --- refusals ----------------------------------------------------------------


def refused(how, directory):
    with pytest.raises(errors.ConfigError) as caught, how(directory):
        pytest.fail('opened')
    text = str(caught.value)
    assert '\n' not in text
    assert str(directory) in text
    return text


@pytest.mark.parametrize('how', [opened, looked])
def test_a_newer_version_is_refused_and_left_as_it_is(tmp_path, how):
    with opened(tmp_path):
        pass
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        db.execute(f'pragma user_version = {schema.SCHEMA_VERSION + 1}')
    db.close()
    before = (tmp_path / 'state.sqlite').read_bytes()
    assert f'version {schema.SCHEMA_VERSION + 1}' in refused(how, tmp_path)
    assert (tmp_path / 'state.sqlite').read_bytes() == before


@pytest.mark.parametrize('how', [opened, looked])
@pytest.mark.parametrize('garbage', [b'garbage' * 1000, b'SQLite format 3\0'])
def test_a_file_that_is_no_database_is_refused_and_left(
    tmp_path, how, garbage
):
    (tmp_path / 'state.sqlite').write_bytes(garbage)
    assert 'move it away' in refused(how, tmp_path)
    assert (tmp_path / 'state.sqlite').read_bytes() == garbage


def test_a_database_of_something_else_is_refused_and_left(tmp_path):
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        db.execute('create table instances (id integer)')
    db.close()
    refused(opened, tmp_path)
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        tables = db.execute('select name from sqlite_master').fetchall()
    db.close()
    assert tables == [('instances',)]


@pytest.mark.parametrize('how', [opened, looked])
def test_a_damaged_database_is_refused(tmp_path, how):
    with opened(tmp_path) as one:
        one.journal.save([reading()])
    path = tmp_path / 'state.sqlite'
    with path.open('r+b') as file:
        file.seek(100)
        file.write(b'\xff' * 3000)
    refused(how, tmp_path)


def test_a_file_in_the_directorys_place_is_refused(tmp_path):
    (tmp_path / 'file').write_text('')
    assert 'state_path' in refused(opened, tmp_path / 'file')


def test_a_directory_in_the_files_place_is_refused(tmp_path):
    (tmp_path / 'state.sqlite').mkdir()
    refused(opened, tmp_path)
    refused(looked, tmp_path)


OTHER = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
UNSEEN = '44444444-4444-4444-8444-444444444444'
MORE = f"""
insert into created values ('{SHARED}', '{OTHER}');
insert into reading values
    (1, '{OTHER}', '{SHARED}', 'node-2', null, 3, '[{{}}, [], []]', 1.0, 0),
    (2, '{OTHER}', '{OTHER}', 'node-2', null, 3, '[{{}}, [], []]', 2.0, 0);
insert into held values
    ('{SHARED}', 'trait', 'driver', '["CUSTOM_X"]'),
    ('{OTHER}', 'trait', 'driver', '["CUSTOM_X"]'),
    ('{UNSEEN}', 'trait', 'driver', '["CUSTOM_X"]');
"""


def test_what_an_older_version_held_is_held_for_the_node_it_was(version_1):
    with contextlib.closing(
        sqlite3.connect(version_1 / 'state.sqlite', isolation_level=None)
    ) as db:
        db.executescript(MORE)
    every = [NODE, OTHER, SHARED, UNSEEN]
    with opened(version_1) as one:
        held = {
            node: {u for u, _ in one.records.record(every, node).claims}
            for node in every
        }
    assert held == {
        NODE: {NODE},
        OTHER: {OTHER, SHARED},
        SHARED: set(),
        UNSEEN: {UNSEEN},
    }
