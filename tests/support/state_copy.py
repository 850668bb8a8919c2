# SPDX-License-Identifier: Apache-2.0
"""An agent's state database as bytes: what a crash leaves, what a backup is.

The copy is taken at one moment, so what a dying process still does in its
``finally`` is not in it. No file is written, so thousands of agents can die.
It is white-box: only SQLite's own connection can be copied so, and the agent
has no use for it.
"""

from compute_agent.state import state
from compute_agent.state.database import database as state_database

SITE = 'test'


def opened(kept: bytes | None = None) -> state.State:
    """Return a state in memory that begins with this copy, or empty."""
    database = state_database.Database.in_memory()
    if kept is not None:
        database._db.deserialize(kept)
    return state.State(database, SITE)


def copied(kept: state.State) -> bytes:
    """Return a copy of a state as it is now."""
    return kept._database._db.serialize()
