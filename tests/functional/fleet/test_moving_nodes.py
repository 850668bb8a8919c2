# SPDX-License-Identifier: Apache-2.0
"""Nodes that move between shares, on SQLite; ``tests/full/fleet`` has servers."""

import moving_nodes_cases
import pytest

from compute_agent.fleet.database import connection


@pytest.fixture
def engine():
    made = connection.engine('sqlite+pysqlite:///:memory:')
    yield made
    made.dispose()


class TestSQLite(moving_nodes_cases.Cases):
    """All of them."""
