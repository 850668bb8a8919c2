# SPDX-License-Identifier: Apache-2.0
"""Files of facts are read and never trusted more than their owner is."""

import datetime as dt
import os

import pytest

from drivers.host.reading import local

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / 'facts.d'
    made.mkdir(mode=0o755)
    return made


@pytest.fixture
def read(folder):
    """Reads the folder at noon; what it returns is name → value, and faults."""
    facts = local.LocalFacts([str(folder)], lambda: NOON)

    def values():
        answer = facts.read()
        assert all('\n' not in line for line in answer.faults)
        return {f.name: f.value for f in answer.facts}, list(answer.faults)

    return values


def test_yaml_has_values_with_types(folder, read):
    (folder / 'rack.yaml').write_text(
        'facts:\n  Rack-Unit: r12\n  licences: 4\n  is_on: true\n  rooms: [a, 1]\n'
    )
    assert read() == (
        {
            'local.rack_unit': 'r12',
            'local.licences': 4,
            'local.is_on': True,
            'local.rooms': ('a', 1),
        },
        [],
    )


def test_lines_are_texts_and_a_name_alone_is_true(folder, read):
    (folder / 'licence').write_text(
        '# ours\nvendor.example/licence=gold=x\n\nmaintenance\n'
        '# +no-feature\nhidden=1\nlast = 1\nlast = 2\n'
    )
    assert read() == (
        {
            'local.vendor_example_licence': 'gold=x',
            'local.maintenance': True,
            'local.last': '2',
        },
        [],
    )


def test_what_has_expired_does_not_exist(folder, read):
    (folder / 'a.yaml').write_text(
        'expires: "2026-05-01T11:59:59Z"\nfacts: {old: 1}\n'
    )
    (folder / 'b.yaml').write_text(
        'expires: "2026-05-01T14:00:01+02:00"\nfacts: {young: 1}\n'
    )
    (folder / 'c').write_text(
        'always=1\n# +expiry-time=2026-05-01T12:00:00Z\ngone=1\n'
        '# +expiry-time=2026-05-01T12:00:01Z\nhere=1\n'
    )
    found, faults = read()
    assert sorted(found) == ['local.always', 'local.here', 'local.young']
    assert faults == []


def test_a_fact_expires_although_its_file_does_not_change(folder):
    (folder / 'a').write_text('# +expiry-time=2026-05-01T12:00:01Z\nx=1\n')
    times = iter([NOON, NOON + dt.timedelta(seconds=1)])
    facts = local.LocalFacts([str(folder)], lambda: next(times))
    assert [len(facts.read().facts) for _ in range(2)] == [1, 0]


def test_a_changed_file_is_read_again(folder, read):
    path = folder / 'a'
    path.write_text('x=1\n')
    assert read()[0] == {'local.x': '1'}
    path.write_text('x=22\n')
    assert read()[0] == {'local.x': '22'}
    path.unlink()
    assert read() == ({}, [])


def test_one_refused_file_leaves_the_rest(folder, read, tmp_path):
    (folder / 'sound').write_text('x=1\n')
    (tmp_path / 'elsewhere').write_text('y=1\n')
    (folder / 'link').symlink_to(tmp_path / 'elsewhere')
    (folder / 'open').write_text('z=1\n')
    (folder / 'open').chmod(0o664)
    os.mkfifo(folder / 'pipe')
    (folder / 'subfolder').mkdir()
    (folder / 'binary').write_bytes(b'x=\xff\n')
    with (folder / 'huge').open('wb') as file:
        file.truncate(100 * 2**20)
    (folder / 'wrong.yaml').write_text('facts:\n  x: {deep: 1}\n')
    (folder / '.hidden').write_text('h=1\n')
    found, faults = read()
    assert found == {'local.x': '1'}
    assert [line.removeprefix(f'{folder}/') for line in faults] == [
        'binary is not read: it is not UTF-8',
        'huge is not read: it has more than 65536 bytes; divide it',
        'link is not read: it is a symbolic link; put the file itself there',
        (
            'open is not read: users other than its owner may write to it; '
            f'run "chmod go-w {folder}/open"'
        ),
        'pipe is not read: it is not a regular file',
        'subfolder is not read: it is not a regular file',
        (
            'wrong.yaml:2: facts.x: a mapping is wrong here; write a text, a '
            'number, true or false, or a list of these'
        ),
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason='only root gives files away')
def test_the_file_of_another_user_is_refused(folder, read):
    (folder / 'a').write_text('x=1\n')
    os.chown(folder / 'a', 4711, -1)
    found, (line,) = read()
    assert found == {}
    assert 'it belongs to user 4711' in line


@pytest.mark.parametrize('mode', [0o775, 0o757])
def test_the_files_of_a_folder_that_others_may_write_are_refused(
    folder, read, mode
):
    (folder / 'a').write_text('x=1\n')
    folder.chmod(mode)
    found, (line,) = read()
    assert found == {}
    assert line.startswith(f'{folder} is not read: users other than')


@pytest.mark.parametrize(
    ('name', 'text', 'line'),
    [
        (
            'a.yaml',
            'facts: {x: 1}\nexpires: "soon"\n',
            '2: expires is no time',
        ),
        ('a.yaml', 'facts: {"//": 1}\n', "1: '//' is no name of a fact"),
        ('a', 'x=1\n# +expiry-time=soon\n', '2: +expiry-time is no time'),
        ('a', 'x=1\n=1\n', "2: '' is no name of a fact"),
        ('a.yml', 'x: 1\n', '1: '),
        (
            'a.yaml',
            f'facts:\n  x: 0x{"f" * 5000}\n',
            "2: the number '0xffff",
        ),
    ],
)
def test_a_wrong_file_is_named_with_its_line(folder, read, name, text, line):
    (folder / name).write_text(text)
    found, faults = read()
    assert found == {}
    assert [f for f in faults if f.startswith(f'{folder}/{name}:{line}')]
    assert len(faults) == 1


def test_the_first_of_two_files_with_a_fact_counts(folder, read):
    (folder / 'a').write_text('x=1\n')
    (folder / 'b').write_text('x=2\n')
    assert read() == (
        {'local.x': '1'},
        [
            (
                f'{folder}/b: local.x is left out, because {folder}/a has it, '
                'too; remove it from one of them'
            )
        ],
    )


def test_only_a_refused_file_may_have_facts_that_are_not_listed(folder):
    (folder / 'a').write_text('x=1\n')
    (folder / 'b').write_text('x=2\n')
    facts = local.LocalFacts([str(folder)])
    assert facts.read().faults
    assert facts.read().incomplete == ''
    (folder / 'c').symlink_to('a')
    assert facts.read().incomplete.startswith(f'{folder}/c is not read: ')


def test_a_folder_with_too_many_files_is_read_in_part(
    folder, read, monkeypatch
):
    monkeypatch.setattr(local, 'MOST', 2)
    for name in 'abc':
        (folder / name).write_text(f'{name}=1\n')
    found, (line,) = read()
    assert sorted(found) == ['local.a', 'local.b']
    assert line.startswith(f'{folder} has more than 2 files')


def test_a_folder_that_does_not_exist_has_no_facts(tmp_path):
    assert local.LocalFacts([str(tmp_path / 'none')]).read() == local.Answer(
        facts=(), faults=()
    )
