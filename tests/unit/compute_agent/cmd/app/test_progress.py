# SPDX-License-Identifier: Apache-2.0
"""The progress bar: at a terminal, for more than a screenful, and not else."""

import concurrent.futures
import io

import pytest

from compute_agent.cmd.app import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _screen(monkeypatch):
    monkeypatch.setenv('LINES', '24')
    monkeypatch.setenv('COLUMNS', '80')
    monkeypatch.setenv('TERM', 'xterm')


def shown(out, total, writes=0):
    def advance_all(advance, pool):
        list(pool.map(advance, [total] * total, [writes] * total))

    with (
        progress.bar(out, 'nodes') as advance,
        concurrent.futures.ThreadPoolExecutor(4) as pool,
    ):
        advance_all(advance, pool)
    return out.getvalue()


def test_more_than_a_screenful_at_a_terminal_has_a_bar():
    text = shown(Terminal(), 60)
    assert 'nodes' in text
    assert '60/60' in text
    assert 'write' not in text


def test_the_writes_are_counted():
    assert '180 writes' in shown(Terminal(), 60, 3)


def test_several_nodes_may_be_counted_at_once():
    with progress.bar(out := Terminal(), 'nodes') as advance:
        advance(60, 30, 20)
        advance(60, 0, 40)
    assert '60/60' in out.getvalue()
    assert '30 writes' in out.getvalue()


@pytest.mark.parametrize(
    ('out', 'total'), [(Terminal(), 24), (Terminal(), 1), (io.StringIO(), 60)]
)
def test_a_screenful_or_no_terminal_has_none(out, total):
    assert shown(out, total) == ''


def test_nothing_to_do_shows_nothing():
    with progress.bar(out := Terminal(), 'nodes'):
        pass
    assert out.getvalue() == ''


def test_a_terminal_that_hangs_up_stops_nothing():
    class HungUp(Terminal):
        def write(self, text):
            raise OSError(5, 'Input/output error')

    with progress.bar(HungUp(), 'nodes') as advance:
        for _ in range(60):
            advance(60)
