# SPDX-License-Identifier: Apache-2.0
"""The first version. A second one gives this one tables of its own."""

import uuid

from alembic import op

from compute_agent.fleet.database import tables

revision = '0001'
down_revision = None


def upgrade() -> None:
    """Make the tables; those that an interrupted run made are kept."""
    db = op.get_bind()
    tables.METADATA.create_all(db)
    if db.execute(tables.IDENTITY.select()).first() is None:
        row = {'number': 1, 'name': uuid.uuid4().hex}
        db.execute(tables.IDENTITY.insert().values(row))
