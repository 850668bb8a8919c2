# SPDX-License-Identifier: Apache-2.0
"""The file of metrics for node_exporter."""

import errno
import logging
import os
import stat
import threading

import pytest

from compute_agent.monitoring import textfile

PATIENCE = 60.0  # seconds; only a hang takes as long


@pytest.fixture
def path(tmp_path):
    return tmp_path / 'compute-agent.prom'


@pytest.fixture(autouse=True)
def umask():
    """A umask as in the systemd unit."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_it_is_written_as_a_whole_and_others_may_read_it(path):
    path.write_text('old')
    with path.open() as reader:
        textfile.TextFile(path, lambda: b'new\n').write()
        assert reader.read() == 'old'  # the old file is untouched
    assert path.read_text() == 'new\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_full_disk_is_said_once_and_the_daemon_goes_on(
    path, monkeypatch, caplog
):
    caplog.set_level(logging.INFO)
    file = textfile.TextFile(path, lambda: b'new\n')
    path.write_text('old')

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), 'x')

    with monkeypatch.context() as broken:
        broken.setattr(textfile.pathlib.Path, 'replace', full)
        for _ in range(3):
            file.write()
    assert path.read_text() == 'old'
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    (line,) = caplog.messages
    assert f'{path} cannot be written' in line
    assert 'No space left on device' in line
    file.write()
    file.write()
    assert path.read_text() == 'new\n'
    assert caplog.messages[1:] == [f'{path} is written again']


def test_a_missing_directory_is_one_line(tmp_path, caplog):
    path = tmp_path / 'missing' / 'a.prom'
    textfile.TextFile(path, lambda: b'').write()
    (line,) = caplog.messages
    assert 'No such file or directory' in line


def test_a_link_in_its_place_is_not_followed(path, tmp_path):
    target = tmp_path / 'target'
    target.write_text('keep')
    path.with_name(f'.{path.name}.new').symlink_to(target)
    path.symlink_to(target)
    textfile.TextFile(path, lambda: b'new\n').write()
    assert target.read_text() == 'keep'
    assert not path.is_symlink()


@pytest.fixture
def rendered():
    """The moments at which a file is rendered."""
    return threading.Semaphore(0)


@pytest.fixture
def hangs():
    """A disk that hangs until this is set."""
    return threading.Event()


@pytest.fixture
def file(path, rendered, hangs):
    """A file of a thread that has begun."""

    def render():
        rendered.release()
        hangs.wait(PATIENCE)
        return b'new\n'

    made = textfile.TextFile(path, render)
    made.start()
    yield made
    hangs.set()
    made.close()
    made.join(PATIENCE)


def test_the_start_writes_it(file, path, rendered, hangs):
    """A daemon that is started again is in it before its first cycle ends."""
    hangs.set()
    assert rendered.acquire(timeout=PATIENCE)
    file.begin()
    assert rendered.acquire(timeout=PATIENCE)  # the first writing is over
    assert path.read_text() == 'new\n'


@pytest.mark.parametrize(
    ('change', 'known'), [('begin', ()), ('end', [None]), ('fail', [None])]
)
def test_each_change_writes_it_and_no_cycle_waits_for_it(
    file, path, rendered, hangs, change, known
):
    """A disk that hangs holds up the file, not the cycles."""
    assert rendered.acquire(timeout=PATIENCE)  # at the start
    for _ in range(5):  # these return although nothing can be written
        getattr(file, change)(*known)
    assert not path.exists()
    hangs.set()
    assert rendered.acquire(timeout=PATIENCE)  # for the changes
    file.close()
    file.join(PATIENCE)
    assert path.read_text() == 'new\n'
