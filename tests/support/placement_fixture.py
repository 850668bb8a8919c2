# SPDX-License-Identifier: Apache-2.0
"""A fresh real placement for a test, in process and without a socket.

A pytest plugin: ``placement`` is the fixture most tests want, and
``placement_server`` the same service behind a port. A process has one placement
at a time; ``placement_slot`` makes room for a test that builds one by itself.
"""

import collections.abc
import importlib
import typing

import pytest

from compute_agent import testing
from compute_agent.testing.fixtures import application


@pytest.fixture(scope='session')
def _placement_slot() -> collections.abc.Iterator[None]:
    yield
    application.free()


@pytest.fixture
def placement_slot(_placement_slot: None) -> None:
    """The process has no placement, and the test may make one."""
    application.free()


@pytest.fixture
def placement(
    _placement_slot: None,
) -> collections.abc.Iterator[testing.Placement]:
    """A fresh real placement, reached through ``placement.session``."""
    with testing.Placement() as placement:
        yield placement


@pytest.fixture
def patient_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that stops waits for its threads, on however busy a machine.

    After less than a second it would go on, with a thread that still serves.
    """
    wsgi_thread = importlib.import_module('compute_agent.dev.wsgi_thread')
    monkeypatch.setattr(wsgi_thread, '_STOP_SECONDS', 60)


@pytest.fixture
def placement_server(
    placement_slot: None, patient_stops: None, tmp_path: typing.Any
) -> collections.abc.Iterator[typing.Any]:
    """A fresh ``EmbeddedPlacement`` on a free port, started."""
    embedded = importlib.import_module('compute_agent.dev.embedded_placement')
    database = tmp_path / 'placement.sqlite'
    database.write_bytes(application.empty_database())
    with embedded.EmbeddedPlacement(database, port=0) as server:
        yield server
