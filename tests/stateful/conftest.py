# SPDX-License-Identifier: Apache-2.0
"""The stateful test's own modules, and a placement made quick for it."""

import importlib
import pathlib
import sys
import typing
from collections.abc import Iterator

import placement_replay
import pytest

from compute_agent import testing

HERE = pathlib.Path(__file__).parent
# The faults that the runs find are among the planted defects.
sys.path[:0] = [str(HERE), str(HERE.parent / 'mutation')]
pytest.register_assert_rewrite(
    'quiet', 'station', 'machine', 'seldom', 'trials'
)


@pytest.fixture
def quick_placement(
    placement: testing.Placement,
    monkeypatch: pytest.MonkeyPatch,
) -> testing.Placement:
    """This test's placement; nobody waits for anything."""
    monkeypatch.setattr('time.sleep', lambda _: None)
    return placement


@pytest.fixture
def acting(
    quick_placement: testing.Placement,
    request: pytest.FixtureRequest,
) -> Iterator[typing.Any]:
    """A machine that is booted, unless False is asked for; driven by hand."""
    booting = importlib.import_module('booting')
    made = booting.machine_on(placement_replay.Replay(quick_placement))()
    made.begin(booted=getattr(request, 'param', True))
    yield made
    made.teardown()


@pytest.fixture(scope='module', autouse=True)
def fleets_closed() -> Iterator[None]:
    """Close the database of the fleets after the last test of a module."""
    yield
    importlib.import_module('fleet_database').close()
