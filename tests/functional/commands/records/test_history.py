# SPDX-License-Identifier: Apache-2.0
"""``history``: what changed and who did it, answered by one command."""

import contextlib
import io
import json
import logging
import os
import pwd
import signal
import sqlite3

import pytest

pytestmark = pytest.mark.long

ROOT = '11111111-1111-4111-8111-111111111111'
RESERVE = ('resource', 'provider', 'inventory', 'set', 'cn1', '--amend')
RESERVE += ('--resource',)


@pytest.fixture
def synced(cli):
    """A node after its first cycle."""
    assert cli.run('sync').code == 0
    return cli


def rows(cli, *words):
    result = cli.run('history', *words, '-f', 'json')
    assert result.code == 0, result.err
    return result.data


def test_what_changed_yesterday_and_who_did_it_is_one_command(synced):
    """A colleague takes a trait away; the next cycle restores it."""
    me = pwd.getpwuid(os.getuid()).pw_name
    synced.placement(f'/resource_providers/{ROOT}/traits', 'DELETE')
    synced.run(
        'resource',
        'provider',
        'inventory',
        'set',
        'cn1',
        '--amend',
        '--resource=VCPU:reserved=1',
    )
    assert synced.run('sync').code == 0
    found = rows(synced, 'cn1', '--since', '1h')
    told = [(r['Who'], r['What'], r['Changes']) for r in found]
    assert (
        f'resource provider inventory set by {me}',
        'inventories',
        ['~VCPU reserved=0→1'],
    ) in told
    (lost,) = rows(synced, '--by-others')
    assert (lost['Who'], lost['Node'], lost['What']) == (
        'another writer',
        'cn1',
        'traits',
    )
    assert '-CUSTOM_GOLD' in lost['Changes']
    assert (
        f'sync by {me}',
        'inventories',
        ['~VCPU reserved=1→0 (restored)'],
    ) in told
    back = next(r for r in reversed(found) if r['What'] == 'traits')
    assert (back['Who'], back['Result']) == (f'sync by {me}', 'done')
    assert '+CUSTOM_GOLD (restored)' in back['Changes']


@pytest.mark.parametrize('words', [['sync'], ['trait', 'create']])
def test_commands_under_a_wrong_clock_drop_no_history(synced, words):
    path = synced.state_path / 'state.sqlite'
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute('update history set at = at - 400 * 86400')
    before = rows(synced)
    for name in ('CUSTOM_ONE', 'CUSTOM_TWO', 'CUSTOM_THREE'):
        synced.describe_node(ROOT, [name])
        given = words if words == ['sync'] else [*words, name]
        assert synced.run(*given).code == 0
    assert rows(synced)[: len(before)] == before != []


def test_a_removal_is_listed_with_its_cause(synced):
    text = synced.fake_file.read_text()
    synced.fake_file.write_text(text.replace(', CUSTOM_GOLD', ''))
    assert synced.run('sync').code == 0
    (row,) = rows(synced, '--removals')
    assert (row['Provider'], row['Changes']) == ('cn1', ['-CUSTOM_GOLD'])
    assert row['Why'] == 'the driver no longer reports it'


def test_each_command_that_writes_is_told_with_its_person(synced):
    me = pwd.getpwuid(os.getuid()).pw_name
    for words in (
        ('trait', 'create', 'CUSTOM_NEW'),
        ('trait', 'create', 'CUSTOM_NEW'),  # nothing to do
        ('resource', 'provider', 'create', 'pool'),
        ('resource', 'provider', 'trait', 'add', 'pool', 'CUSTOM_NEW'),
        ('resource', 'provider', 'trait', 'add', 'pool', 'CUSTOM_NEW'),
        ('resource', 'provider', 'rename', 'pool', 'lake', '--yes'),
        ('resource', 'provider', 'delete', 'lake'),
        ('trait', 'delete', 'CUSTOM_NEW'),
    ):
        result = synced.run(*words)
        assert result.code == 0, (words, result.err)
    found = [
        (r['Who'], r['What'], r['Provider'])
        for r in rows(synced)
        if not r['Who'].startswith('sync')
    ]
    assert found == [
        (f'trait create by {me}', 'trait created', ''),
        (f'resource provider create by {me}', 'provider created', 'pool'),
        (f'resource provider trait add by {me}', 'traits', 'pool'),
        (
            f'resource provider rename by {me}',
            'provider renamed or moved',
            'pool',
        ),
        (f'resource provider delete by {me}', 'provider deleted', 'lake'),
        (f'trait delete by {me}', 'trait deleted', ''),
    ]


def test_resource_classes_by_lines_are_told_each_with_the_person(
    synced, monkeypatch
):
    me = pwd.getpwuid(os.getuid()).pw_name
    for verb in ('create', 'create', 'delete'):  # the second changes nothing
        stdin = io.TextIOWrapper(io.BytesIO(b'CUSTOM_A\nCUSTOM_B\n'))
        monkeypatch.setattr('sys.stdin', stdin)
        assert synced.run('resource', 'class', verb, '-').code == 0
    found = [
        (r['Who'], r['What'], r['Why'])
        for r in rows(synced)
        if not r['Who'].startswith('sync')
    ]
    assert found == [
        (
            f'resource class create by {me}',
            'resource class created',
            'CUSTOM_A',
        ),
        (
            f'resource class create by {me}',
            'resource class created',
            'CUSTOM_B',
        ),
        (
            f'resource class delete by {me}',
            'resource class deleted',
            'CUSTOM_A',
        ),
        (
            f'resource class delete by {me}',
            'resource class deleted',
            'CUSTOM_B',
        ),
    ]
    removals = [r['Why'] for r in rows(synced, '--removals')]
    assert removals == ['CUSTOM_A', 'CUSTOM_B']


def test_without_a_state_on_this_host_a_command_writes_none(cli):
    assert cli.run('trait', 'create', 'CUSTOM_NEW').code == 0
    assert not cli.state_path.exists()


def test_times_and_subjects_choose(synced):
    assert rows(synced, '--until', '2h') == []
    assert rows(synced, '--since', 'yesterday', '--until', 'today')
    assert len(rows(synced, ROOT)) == len(rows(synced, 'cn1')) > 2
    wrong = synced.run('history', '--since', 'soon')
    assert (wrong.code, 'no time' in wrong.line) == (1, True)
    unknown = synced.run('history', 'cn9')
    assert unknown.code == 1
    assert 'has no node or provider cn9' in unknown.line


@pytest.mark.parametrize('form', ['table', 'csv', 'yaml', 'value'])
def test_it_prints_in_every_format(synced, form):
    result = synced.run('history', '-f', form)
    assert (result.code, 'CUSTOM_GOLD' in result.out) == (0, True)


def test_it_needs_neither_placement_nor_a_driver_nor_a_history(cli):
    empty = cli.run('history')
    assert (empty.code, empty.out) == (0, '')
    assert 'has no such entry' in empty.line
    assert cli.run('sync').code == 0
    cli.stop_placement()
    cli.configure(compute_driver='none')
    assert rows(cli)


def test_the_daemons_start_and_outages_are_there_while_it_runs(cli, daemon):
    one = daemon(cli.config, '--show-tree')
    one.wait_for('in step with')
    found = rows(cli)
    assert (found[0]['Who'], found[0]['What']) == ('daemon', 'daemon started')
    assert {r['Who'] for r in found} == {'daemon'}
    assert (
        cli.run(
            'resource', 'provider', 'trait', 'remove', 'cn1', 'CUSTOM_GOLD'
        ).code
        == 0
    )
    assert rows(cli)[-1]['Changes'] == ['-CUSTOM_GOLD']


@pytest.mark.parametrize(
    ('column', 'value'),
    [
        ('what', 'provider painted'),
        ('result', 'perhaps'),
        ('content', '{'),
        ('content', '[]'),
        ('content', '{"kind":"trait","changes":7}'),
        ('content', '{"restored":3}'),
        ('content', '{"kind":"inventory","changes":[["VCPU",1,1,["a"]]]}'),
        ('by', b'\xff'),
        ('at', 1e13),
    ],
)
def test_an_entry_that_cannot_be_read_is_left_out(synced, column, value):
    """A newer agent wrote it, or the disk changed it; the others are shown."""
    before = rows(synced)
    with sqlite3.connect(synced.state_path / 'state.sqlite') as db:
        db.execute(
            f'update history set {column} = cast(? as text)'
            ' where id = (select max(id) from history)'
            if isinstance(value, bytes)
            else f'update history set {column} = ?'
            ' where id = (select max(id) from history)',
            (value,),
        )
    db.close()
    logging.getLogger().handlers.clear()  # those of the commands before
    found = synced.run('history', '-f', 'json')
    assert (found.code, found.data) == (0, before[:-1])
    assert 'without 1 of its entries, which cannot be read' in found.line
    assert 'away' not in found.line


def test_a_restored_name_says_which_command_had_removed_it(synced):
    synced.run('resource', 'provider', 'trait', 'remove', 'cn1', 'CUSTOM_GOLD')
    synced.run(
        'resource',
        'provider',
        'inventory',
        'set',
        'cn1',
        '--amend',
        '--resource=VCPU:reserved=1',
    )
    me = pwd.getpwuid(os.getuid()).pw_name
    told = [
        f'removed by compute-agent resource provider trait remove by {me} at 20',
        f'changed by compute-agent resource provider inventory set by {me} at 20',
    ]
    for words in ('plan', 'sync'):
        out = synced.run(words).out
        assert all(line in out for line in told), out
        assert 'Z, and restored: CUSTOM_GOLD' in out
        assert 'another writer' not in out
    synced.placement(f'/resource_providers/{ROOT}/traits', 'DELETE')
    assert 'removed by another writer, and restored: COMPUTE_NODE, CUSTOM' in (
        synced.run('plan').out
    )


def test_the_newest_entries_of_a_node_are_asked_for(cli):
    other = '22222222-2222-4222-8222-222222222222'
    cli.configure(host=None)
    cli.fake_file.write_text(
        'nodes:\n'
        f'  - {{name: cn1, uuid: {ROOT}, inventories: {{VCPU: 8}}}}\n'
        f'  - {{name: cn2, uuid: {other}, inventories: {{VCPU: 8}},\n'
        '     children: [{name: cn2_numa0, traits: [HW_NUMA_ROOT]}]}\n'
    )
    assert cli.run('sync').code == 0
    every = rows(cli)
    of_second = [row for row in every if row['Node'] == 'cn2']
    assert 'cn2_numa0' in [row['Provider'] for row in of_second]
    assert rows(cli, '--node', 'cn2') == of_second
    assert rows(cli, '--node', other, '--limit', '2') == of_second[-2:]
    both = rows(cli, '--node', 'cn1', '--node', 'cn2')
    assert both == [row for row in every if row['Node']]
    assert rows(cli, 'cn2_numa0', '--node', 'cn2') == [
        row for row in of_second if row['Provider'] == 'cn2_numa0'
    ]
    assert cli.run('history', '--node', 'cn7').line == (
        'compute-agent: the history of this time has no node or provider cn7'
    )


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--limit', '0'], "'0' is not a number above 0"),
        (['--follow', '--until', 'today'], '--until has an end'),
        (['--follow', '-f', 'yaml'], 'it has no -f yaml'),
    ],
)
def test_options_that_do_not_fit_are_one_line(cli, words, said):
    result = cli.run('history', *words)
    assert (result.code, said in result.line) == (1, True)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_new_entries_are_followed_until_the_person_stops(
    synced, daemon, number
):
    """They come as they are written, each once, and the end is no error."""
    many = daemon(
        synced.config,
        *('--follow', '--limit', '1', '-f', 'json', '--node', 'cn1'),
        command='history',
    )
    many.wait_for('"What"')
    synced.run(*RESERVE, 'VCPU:reserved=1')
    many.wait_for('~VCPU reserved=0')
    synced.run('trait', 'create', 'CUSTOM_NEW')  # of no node
    synced.run(*RESERVE, 'VCPU:reserved=2')
    many.wait_for('~VCPU reserved=1')
    assert many.end(number) == 0
    found = [json.loads(line) for line in many.said.splitlines()]
    assert [row['Changes'] for row in found[1:]] == [
        ['~VCPU reserved=0→1'],
        ['~VCPU reserved=1→2'],
    ]


def test_followed_entries_are_lines_for_people(synced, daemon):
    one = daemon(
        synced.config, '--follow', '-c', 'What', '-c', 'Node',
        command='history',
    )  # fmt: skip
    one.wait_for('traits')
    synced.run('trait', 'create', 'CUSTOM_NEW')
    one.wait_for('trait created', 2)
    assert one.end(signal.SIGINT) == 0
    first, *_, last = one.said.splitlines()
    assert (first, last) == ('trait created  cn1', 'trait created')
