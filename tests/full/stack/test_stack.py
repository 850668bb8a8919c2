# SPDX-License-Identifier: Apache-2.0
"""A day of the whole cloud, and judges that see what is wrong.

``make stack`` lets days pass for an hour.
"""

import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import growth
import log_reading
import openstack_server
import pytest
import stack
import wanted

from benchmarks.sync_cycles import postgresql

NODE = {
    'uuid': 'u1',
    'name': 'node-1',
    'traits': ['CUSTOM_RACK_1'],
    'resource_class': 'gold',
}
HELD = {
    'name': 'u1',
    'traits': ['COMPUTE_NODE', 'CUSTOM_RACK_1', 'OWNER_NOVA'],
    'inventories': {'CUSTOM_GOLD': {'total': 1}},
}


@pytest.fixture
def folder():
    """A folder for the servers; it stays where it is if the test fails."""
    if not _has_psycopg2():
        pytest.fail(
            f'there is no {openstack_server.PYTHON} with psycopg2: "make '
            '.servers/keystone-postgresql.stamp" installs keystone and it'
        )
    if not postgresql.is_installed():
        pytest.fail(postgresql.MISSING)
    if shutil.which('gcc') is None:
        pytest.fail('gcc is needed for the clocks: apt-get install gcc')
    made = stack.new_folder()
    yield made
    shutil.rmtree(made)


def _has_psycopg2():
    """Return True if placement can have its data in PostgreSQL."""
    if not pathlib.Path(openstack_server.PYTHON).exists():
        return False
    command = [openstack_server.PYTHON, '-c', 'import psycopg2']
    return subprocess.run(command, check=False).returncode == 0


@pytest.mark.long
def test_all_is_well_after_a_day_in_which_each_part_fails(folder):
    outcome = stack.run(folder, 0, 1)
    sys.stdout.write('\n'.join(outcome.lines))
    assert outcome.wrong == []
    for rows in outcome.rows.values():
        assert rows[-1].life == 3
        assert rows[-1].history


def test_the_judge_sees_what_is_wrong():
    def wrong(nodes, held):
        return ' '.join(wanted.bare_metal(nodes, held))

    assert wrong([NODE], {'u1': HELD}) == ''
    assert 'is missing' in wrong([NODE], {})
    assert 'no node of Ironic any more' in wrong([], {'u1': HELD})
    for part, value in (
        ('traits', ['CUSTOM_RACK_1']),
        ('traits', [*HELD['traits'], 'CUSTOM_RACK_2']),
        ('inventories', {}),
    ):
        assert wrong([NODE], {'u1': {**HELD, part: value}})
    first = {'traits': ['COMPUTE_NODE'], 'inventories': {}}
    now = {**first, 'traits': ['COMPUTE_NODE', wanted.OPERATORS]}
    assert list(wanted.host(first, now)) == []
    assert list(wanted.host(first, first))
    assert list(wanted.host(first, {**now, 'inventories': {'VCPU': {}}}))


def days(life=1, **figures):
    """Return ten days of a daemon, each figure as a function of the day."""
    flat = dict.fromkeys(growth.MOST, 10)
    return [
        growth.Figures(
            life=life,
            cycles=day,
            **{**flat, **{name: f(day) for name, f in figures.items()}},
        )
        for day in range(10)
    ]


@pytest.mark.parametrize('figure', growth.MOST)
def test_growth_is_told_and_what_is_too_large(figure):
    def wrong(rows):
        return list(growth.problems('metal', rows))

    step = growth.GROWTH[figure]
    assert wrong(days()) == []
    (line,) = wrong(days(**{figure: lambda day: day * step}))
    assert line.startswith(f'metal: {figure} grew from')
    # A new life begins anew, and a short one says nothing.
    grown = days(**{figure: lambda day: day * step})
    assert wrong([*grown, *days(life=2)]) == []
    assert wrong([*grown[:5], *days(life=2)[:3]]) == []
    (line,) = wrong(days(**{figure: lambda _: growth.MOST[figure] + 1}))
    assert 'is the most' in line


def test_the_size_of_a_process_and_of_its_database_is_read(tmp_path):
    file = tmp_path / 'state.sqlite'
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute('create table history (id)')
        db.executemany('insert into history values (?)', [(1,), (2,)])
    found = growth.figures(os.getpid(), tmp_path, 1, 5)
    assert found.history == 2
    assert found.state == file.stat().st_size >> 10
    assert min(found.memory, found.descriptors, found.threads) > 0


def test_the_table_has_the_begin_the_quarters_and_the_end():
    lines = list(growth.table('metal', days()))
    assert [line.split(':')[0] for line in lines] == [
        f'metal after day {day}' for day in (1, 3, 6, 8, 10)
    ]
    assert len(list(growth.table('metal', days()[:1]))) == 1


def test_the_reader_of_logs_sees_secrets_and_tracebacks():
    token = 'gAAAA' + 'Bq' * 20
    assert log_reading.secrets(f'X: {token}', ['pw']) == [token]
    assert log_reading.secrets('user:pw@host', ['pw']) == ['pw']
    away = '2026 1 ERROR x [-] away; retrying until it is mended'
    back = '2026 1 INFO x [-] back after 3 s'
    assert log_reading.problems([away, back]) == []
    assert log_reading.problems([back])
    assert log_reading.problems(['Traceback (most recent call last):'])
    assert log_reading.repeated([away] * 3 + [back] * 9, 3) == []
    (line,) = log_reading.repeated([away] * 4 + [back] * 9, 3)
    assert line.startswith('4 times: ERROR')
    assert log_reading.counted([away, back, back]) == {'ERROR': 1, 'INFO': 2}
