# SPDX-License-Identifier: Apache-2.0
"""Carrying a group of cases out: what has a figure, and what has none."""

import contextlib
import types

import measured_cycles as made
import pytest

from benchmarks.sync_cycles import (
    agents,
    bench,
    contents,
    placement_server,
    scenarios,
)


class Databases:
    """Some that are nowhere."""

    def copy(self, source, target):
        """Copy nothing."""

    def run(self, name, sql):
        """Run nothing."""


@pytest.fixture
def group():
    (_, ours) = scenarios.groups(['sqlite'], [scenarios.Shape.NESTED], [], 1)
    return ours


def test_a_cycle_that_left_something_else_has_no_figure(
    group, tmp_path, monkeypatch
):
    """Its first sync is right, the restart after it is not."""
    done, checked = [], []

    def cycle(group, scenario, server, agent):
        done.append(scenario.name)
        return made.measured(scenario.name)

    def check(known, name, nodes):
        checked.append(name)
        if len(checked) == 2:
            raise contents.Wrong('traits: placement lacks X')

    running = contextlib.nullcontext(types.SimpleNamespace(url=''))
    for where in (agents, placement_server):
        monkeypatch.setattr(where, 'started', lambda *_: running)
    monkeypatch.setattr(bench, '_cycle', cycle)
    monkeypatch.setattr(contents, 'check', check)
    found = []
    with pytest.raises(contents.Wrong):
        found.extend(bench.Bench(Databases(), tmp_path, 1).measured(group))
    assert done == ['first', 'restart']
    assert [one.scenario for one in found] == ['first']
