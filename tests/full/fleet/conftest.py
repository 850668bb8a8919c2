# SPDX-License-Identifier: Apache-2.0
"""Engines for the tests of this folder, whose modules are found by path."""

import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from compute_agent.fleet.database import connection

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def opened() -> Iterator[Callable[[str], sa.Engine]]:
    """A function that returns an engine; all end with the test."""
    with contextlib.ExitStack() as ended:

        def make(url: str) -> sa.Engine:
            made = connection.engine(url)
            ended.callback(made.dispose)
            return made

        yield make
