# SPDX-License-Identifier: Apache-2.0
"""Run by alembic: migrates over the connection that ``schema.py`` gives."""

from alembic import context

from compute_agent.fleet.database import schema

context.configure(
    connection=context.config.attributes['connection'],
    version_table=schema.VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
