# SPDX-License-Identifier: Apache-2.0
"""The write-once file that keeps the host's uuid."""

import multiprocessing
import os

import pytest

from compute_agent import errors, file_trust
from compute_agent.identity import compute_id

ONE = '11111111-1111-4111-8111-111111111111'
TWO = '22222222-2222-4222-8222-222222222222'


def test_the_first_start_makes_the_file_and_later_ones_read_it(tmp_path):
    first = compute_id.host_uuid(tmp_path)
    assert compute_id.host_uuid(tmp_path) == first
    assert (tmp_path / 'compute_id').read_text() == f'{first}\n'
    assert [p.name for p in tmp_path.iterdir()] == ['compute_id']


def test_the_directory_is_made_too(tmp_path):
    state_path = tmp_path / 'a' / 'b'
    uuid = compute_id.host_uuid(state_path)
    assert (state_path / 'compute_id').read_text().strip() == uuid


def test_an_existing_file_is_read_and_never_written(tmp_path):
    path = tmp_path / 'compute_id'
    path.write_text(f'  {ONE.upper()}\n\n')
    before = path.stat().st_mtime_ns
    assert compute_id.host_uuid(tmp_path) == ONE
    assert path.read_text() == f'  {ONE.upper()}\n\n'
    assert path.stat().st_mtime_ns == before


def test_novas_file_is_read_where_it_is_and_not_copied(tmp_path):
    nova, state_path = tmp_path / 'nova', tmp_path / 'state'
    nova.mkdir()
    (nova / 'compute_id').write_text(ONE)
    assert compute_id.host_uuid(state_path, [tmp_path / 'no', nova]) == ONE
    assert (nova / 'compute_id').read_text() == ONE
    assert not (state_path / 'compute_id').exists()


def test_copies_that_agree_are_one(tmp_path):
    nova = tmp_path / 'nova'
    nova.mkdir()
    (nova / 'compute_id').write_text(ONE.upper())
    (tmp_path / 'compute_id').write_text(ONE)
    assert compute_id.host_uuid(tmp_path, [nova]) == ONE


def test_copies_that_differ_are_refused_with_both_places(tmp_path):
    nova = tmp_path / 'nova'
    nova.mkdir()
    (nova / 'compute_id').write_text(ONE)
    (tmp_path / 'compute_id').write_text(TWO)
    with pytest.raises(errors.ConfigError) as caught:
        compute_id.host_uuid(tmp_path, [nova])
    for part in (ONE, TWO, str(nova), str(tmp_path)):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    'garbage',
    [b'', b'\n', b'node-1', b'\xff\xfe\x00', ONE.encode() * 2, b'x' * 10**5],
    ids=['empty', 'blank', 'name', 'binary', 'two', 'long'],
)
def test_a_file_that_holds_no_uuid_is_refused_and_left(tmp_path, garbage):
    path = tmp_path / 'compute_id'
    path.write_bytes(garbage)
    with pytest.raises(errors.ConfigError) as caught:
        compute_id.host_uuid(tmp_path)
    assert str(path) in str(caught.value)
    assert '\n' not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert path.read_bytes() == garbage


def test_a_directory_in_the_files_place_is_refused(tmp_path):
    (tmp_path / 'compute_id').mkdir()
    with pytest.raises(errors.ConfigError, match='compute_id'):
        compute_id.host_uuid(tmp_path)


def test_a_directory_that_cannot_be_is_refused(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(errors.ConfigError, match='file'):
        compute_id.host_uuid(tmp_path / 'file' / 'state')


def _start(state_path, barrier, found):
    barrier.wait()
    found.put(compute_id.host_uuid(state_path))


def test_starts_at_once_agree(tmp_path):
    context = multiprocessing.get_context('fork')
    for turn in range(5):
        barrier, found = context.Barrier(4), context.Queue()
        starts = [
            context.Process(
                target=_start, args=(tmp_path / str(turn), barrier, found)
            )
            for _ in range(4)
        ]
        for start in starts:
            start.start()
        agreed = {found.get(timeout=60) for _ in starts}
        for start in starts:
            start.join()
        assert len(agreed) == 1
        assert agreed == {compute_id.host_uuid(tmp_path / str(turn))}
        assert len(list((tmp_path / str(turn)).iterdir())) == 1


# --- a host that takes another uuid back --------------------------------------


def test_an_adopted_uuid_takes_the_file_s_place_which_is_kept(tmp_path):
    path = tmp_path / 'compute_id'
    path.write_text(ONE)
    path.chmod(0o640)
    (kept,) = compute_id.adopt(TWO, tmp_path)
    assert compute_id.host_uuid(tmp_path) == TWO
    assert kept == tmp_path / f'compute_id.{ONE}.replaced'
    assert kept.read_text() == ONE
    assert path.stat().st_mode & 0o777 == 0o640
    assert set(tmp_path.iterdir()) == {path, kept}


def test_every_copy_of_it_is_replaced_where_it_lies(tmp_path):
    ours, novas, none = (tmp_path / name for name in ('ours', 'nova', 'none'))
    for directory in (ours, novas):
        directory.mkdir()
        (directory / 'compute_id').write_text(ONE)
    kept = compute_id.adopt(TWO, ours, [novas, none, ours])
    assert [path.parent for path in kept] == [ours, novas]
    assert compute_id.host_uuid(ours, [novas, none]) == TWO


def test_a_link_stays_one_and_leads_to_the_adopted_uuid(tmp_path):
    real = tmp_path / 'real'
    real.write_text(ONE)
    (tmp_path / 'compute_id').symlink_to(real)
    compute_id.adopt(TWO, tmp_path)
    assert (tmp_path / 'compute_id').is_symlink()
    assert real.read_text().strip() == TWO


@pytest.mark.parametrize('adopting', [False, True])
def test_nothing_is_written_through_a_link_that_lies_in_the_way(
    tmp_path, adopting
):
    target = tmp_path / 'target'
    target.write_text('precious')
    directory = tmp_path / 'state'
    directory.mkdir()
    for name in (str(os.getpid()), f'{os.getpid()}.old', f'{ONE}.replaced'):
        (directory / f'compute_id.{name}').symlink_to(target)
    if adopting:
        (directory / 'compute_id').write_text(ONE)
        compute_id.adopt(TWO, directory)
    assert compute_id.host_uuid(directory) != ONE
    assert target.read_text() == 'precious'


def test_its_mode_does_not_depend_on_the_umask(tmp_path):
    before = os.umask(0)
    try:
        compute_id.host_uuid(tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / 'compute_id').stat().st_mode & 0o777 == 0o644


def test_a_link_of_another_user_is_refused(tmp_path, monkeypatch):
    (tmp_path / 'real').write_text(ONE)
    (tmp_path / 'compute_id').symlink_to(tmp_path / 'real')
    monkeypatch.setattr(os, 'geteuid', lambda: 60_001)
    monkeypatch.setattr(file_trust, '_ROOT', 60_002)
    with pytest.raises(errors.ConfigError, match='belongs to user'):
        compute_id.host_uuid(tmp_path)


def test_a_file_that_cannot_be_replaced_is_said_and_left(tmp_path):
    (tmp_path / 'compute_id').write_text(ONE)
    (tmp_path / f'compute_id.{ONE}.replaced').mkdir()
    (tmp_path / f'compute_id.{ONE}.replaced' / 'compute_id').mkdir()
    with pytest.raises(errors.ConfigError, match='cannot be used'):
        compute_id.adopt(TWO, tmp_path)
    assert compute_id.host_uuid(tmp_path) == ONE
