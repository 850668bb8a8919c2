# SPDX-License-Identifier: Apache-2.0
"""What is in placement's database, and SQLite files as databases."""

import pytest

from benchmarks.sync_cycles import cloud, contents, databases

# The columns of placement's schema that are asked for.
SCHEMA = """
create table resource_providers (
    id integer primary key, uuid, name, generation, root_provider_id,
    created_at, updated_at);
create table traits (id integer primary key, name);
create table resource_provider_traits (resource_provider_id, trait_id);
create table resource_classes (id integer primary key, name);
create table inventories (
    resource_provider_id, resource_class_id, total, reserved);
create table placement_aggregates (id integer primary key, uuid);
create table resource_provider_aggregates (
    resource_provider_id, aggregate_id);
insert into resource_classes values (1, 'CUSTOM_GOLD');
"""


@pytest.fixture
def known(tmp_path):
    """A database with no provider."""
    made = databases.SQLite(tmp_path)
    made.create('run')
    made.run('run', SCHEMA)
    return made


def fill(known, node):
    """Put into the database what an agent would of this node."""
    for number, trait in enumerate(cloud.reported_traits(node, is_root=True)):
        known.run(
            'run',
            f"insert into traits values ({number}, '{trait}');"
            f'insert into resource_provider_traits values (7, {number})',
        )
    known.run(
        'run',
        'insert into resource_providers (id, uuid, name) '
        f"values (7, '{node['uuid']}', '{node['name']}');"
        'insert into inventories values (7, 1, 1, 0);'
        f"insert into placement_aggregates values (1, '{cloud.AGGREGATE}');"
        'insert into resource_provider_aggregates values (7, 1)',
    )


def test_what_an_agent_put_there_is_what_it_should_have(known):
    nodes = cloud.parse(cloud.listing(1))
    fill(known, nodes[0])
    contents.check(known, 'run', nodes)


@pytest.mark.parametrize(
    ('sql', 'said'),
    [
        ('delete from inventories', 'inventories: .*|1|0'),
        ('update inventories set reserved = 1', 'inventories: .*|1|1'),
        ('delete from resource_provider_aggregates', 'aggregates: '),
        ("update traits set name = 'X' where id = 0", 'traits: .*has.*|X'),
    ],
)
def test_what_is_not_as_it_should_be_is_said(known, sql, said):
    nodes = cloud.parse(cloud.listing(1))
    fill(known, nodes[0])
    known.run('run', sql)
    with pytest.raises(contents.Wrong, match=said.replace('|', r'\|')):
        contents.check(known, 'run', nodes)


def test_strangers_are_roots_of_their_own(known):
    contents.add_strangers(known, 'run', 2001)
    asked = 'select count(*), count(distinct uuid) from resource_providers'
    roots = f'{asked} where root_provider_id = id and updated_at is not null'
    assert known.rows('run', roots) == ['2001|2001']


def test_a_copy_does_not_change_with_the_database_it_is_of(known):
    known.copy('run', 'other')
    known.run('other', 'delete from resource_classes')
    count = 'select count(*) from resource_classes'
    assert known.rows('run', count) == ['1']
    assert known.rows('other', count) == ['0']
    known.copy('run', 'other')
    assert known.rows('other', count) == ['1']
    assert known.url('other').endswith('/other.sqlite')
