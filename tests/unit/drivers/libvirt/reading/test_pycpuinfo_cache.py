# SPDX-License-Identifier: Apache-2.0
"""py-cpuinfo is asked once per boot, and its file is checked, not trusted."""

import dataclasses
import json
import logging
import stat
import sys
from concurrent import futures

import pytest

from drivers.libvirt.reading import pycpuinfo

KEY = pycpuinfo.Key(
    boot_id='b1', microcode='0x1', model='A CPU', version='9.0.0'
)
ANSWER = {'flags': ['avx', 'sse'], 'vendor_id_raw': 'GenuineIntel', 'bits': 64}


class Asked:
    """A py-cpuinfo that counts how often it is asked."""

    def __init__(self, answer=ANSWER):
        self.answer = answer
        self.times = 0

    def __call__(self):
        self.times += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'cpuinfo.json'


@pytest.fixture
def kept(path):
    """A file that a first process left."""
    pycpuinfo.CachedProbe(path, Asked()).reported(KEY)
    return path


def test_the_answer_is_the_flags_and_the_maker(path):
    reported = pycpuinfo.CachedProbe(path, Asked()).reported(KEY)
    assert reported.flags == {'avx', 'sse'}
    assert reported.vendor == 'GenuineIntel'


def test_one_process_asks_once(path):
    asked = Asked()
    probe = pycpuinfo.CachedProbe(path, asked)
    assert probe.reported(KEY) is probe.reported(KEY)
    assert asked.times == 1


def test_threads_that_come_together_ask_once(path):
    asked = Asked()
    probe = pycpuinfo.CachedProbe(path, asked)
    with futures.ThreadPoolExecutor(8) as pool:
        answers = set(map(id, pool.map(probe.reported, [KEY] * 32)))
    assert (asked.times, len(answers)) == (1, 1)


def test_the_next_process_reads_the_file(kept):
    asked = Asked()
    reported = pycpuinfo.CachedProbe(kept, asked).reported(KEY)
    assert asked.times == 0
    assert reported.flags == {'avx', 'sse'}
    assert reported.vendor == 'GenuineIntel'


def test_the_file_is_the_owners_alone_and_nothing_else_is_left(kept):
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert list(kept.parent.iterdir()) == [kept]


@pytest.mark.parametrize('field', ['boot_id', 'microcode', 'model', 'version'])
def test_another_boot_processor_or_release_asks_again(kept, field):
    asked = Asked({'flags': ['mmx']})
    key = dataclasses.replace(KEY, **{field: 'other'})
    reported = pycpuinfo.CachedProbe(kept, asked).reported(key)
    assert asked.times == 1
    assert reported.flags == {'mmx'}


def test_new_microcode_in_a_running_process_asks_again(path):
    asked = Asked()
    probe = pycpuinfo.CachedProbe(path, asked)
    probe.reported(KEY)
    probe.reported(dataclasses.replace(KEY, microcode='0x2'))
    assert asked.times == 2


def spoilt(**changes):
    kept = {'key': dataclasses.asdict(KEY), 'answer': {'flags': ['avx']}}
    return json.dumps({**kept, **changes})


@pytest.mark.parametrize(
    'text',
    [
        '',
        'not json',
        '[]',
        'null',
        '{}',
        '[' * 100_000,
        '\udcff',
        spoilt(key=None),
        spoilt(key='b1'),
        spoilt(answer=None),
        spoilt(answer=[]),
        spoilt(answer={}),
        spoilt(answer={'flags': []}),
        spoilt(answer={'flags': 'avx'}),
        spoilt(answer={'flags': [1]}),
        spoilt(answer={'flags': ['avx'], 'vendor_id_raw': 7}),
    ],
)
def test_a_spoilt_file_asks_again_and_is_mended(path, text):
    path.write_bytes(text.encode('utf-8', 'surrogateescape'))
    asked = Asked()
    assert pycpuinfo.CachedProbe(path, asked).reported(KEY).flags == {
        'avx',
        'sse',
    }
    assert asked.times == 1
    pycpuinfo.CachedProbe(path, asked).reported(KEY)
    assert asked.times == 1


def test_a_folder_in_its_place_asks_again_and_says_so_once(path, caplog):
    path.mkdir()
    asked = Asked()
    probe = pycpuinfo.CachedProbe(path, asked)
    with caplog.at_level(logging.WARNING):
        assert probe.reported(KEY).flags == {'avx', 'sse'}
        probe.reported(KEY)
    assert asked.times == 1
    assert len(caplog.records) == 1
    assert str(path) in caplog.text
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_folder_is_made(tmp_path):
    path = tmp_path / 'missing' / 'cpuinfo.json'
    reported = pycpuinfo.CachedProbe(path, Asked()).reported(KEY)
    assert reported.flags == {'avx', 'sse'}
    assert path.exists()


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path, caplog):
    (tmp_path / 'file').write_text('')
    path = tmp_path / 'file' / 'cpuinfo.json'
    reported = pycpuinfo.CachedProbe(path, Asked()).reported(KEY)
    assert reported.flags == {'avx', 'sse'}
    assert 'cannot save the answer' in caplog.text


def test_without_a_boot_id_no_file_is_used(kept):
    key = dataclasses.replace(KEY, boot_id='')
    before = kept.read_bytes()
    asked = Asked()
    pycpuinfo.CachedProbe(kept, asked).reported(key)
    assert asked.times == 1
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ('answer', 'reason'),
    [
        ({}, 'py-cpuinfo gave no flags'),
        ({'flags': []}, 'py-cpuinfo gave no flags'),
        ({'flags': None}, 'py-cpuinfo gave no flags'),
        ({'flags': 'avx'}, 'py-cpuinfo gave no flags'),
        (None, 'py-cpuinfo gave no answer'),
        (OSError('no fork'), 'py-cpuinfo failed: no fork'),
    ],
)
def test_no_answer_is_remembered_but_never_written(path, answer, reason):
    asked = Asked(answer)
    probe = pycpuinfo.CachedProbe(path, asked)
    assert probe.reported(KEY).flags is None
    assert probe.reported(KEY).reason == reason
    assert asked.times == 1
    assert not path.exists()


def test_where_the_file_serves_py_cpuinfo_is_not_imported(kept, monkeypatch):
    for name in [n for n in sys.modules if n.split('.')[0] == 'cpuinfo']:
        monkeypatch.delitem(sys.modules, name)
    pycpuinfo.CachedProbe(kept).reported(KEY)
    assert 'cpuinfo' not in sys.modules


def test_the_release_is_known_without_importing_it():
    assert pycpuinfo.version().split('.')[0].isdigit()


def test_a_distribution_that_is_not_installed_has_no_release():
    assert pycpuinfo.version('there-is-no-such-thing') == ''


def test_the_real_py_cpuinfo_answers_with_a_dictionary():
    assert isinstance(pycpuinfo.ask(), dict)
