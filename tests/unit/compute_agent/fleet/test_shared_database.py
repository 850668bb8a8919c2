# SPDX-License-Identifier: Apache-2.0
"""The rules of a shared database, on SQLite; ``tests/full/fleet`` has servers."""

import pytest
import shared_database_cases

from compute_agent.fleet.database import connection


@pytest.fixture
def engine(tmp_path):
    made = connection.engine(f'sqlite+pysqlite:///{tmp_path}/shared.sqlite')
    yield made
    made.dispose()


class TestSQLite(shared_database_cases.Cases):
    """All of them."""
