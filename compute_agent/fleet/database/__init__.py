# SPDX-License-Identifier: Apache-2.0
"""The SQL database that the agents of a fleet share.

Begin with ``connection.py``, which opens it and runs transactions; ``tables.py``
has its tables, ``schema.py`` makes, migrates and checks them. They need the
extra ``fleet``, so they are imported only if ``[compute_agent] state_connection``
is set; without the extra, the import raises a ``ConfigError``.
"""

import importlib.util

from ... import errors, extras

for _name in ('alembic', 'oslo_db', 'sqlalchemy'):
    if importlib.util.find_spec(_name) is None:
        raise errors.ConfigError(
            f'[compute_agent] state_connection needs {_name}, which is not '
            f'installed: {extras.advice("fleet")}'
        )
