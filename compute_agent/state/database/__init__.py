# SPDX-License-Identifier: Apache-2.0
"""The file of the state database: its connection, schema, permissions and lock.

Begin with ``database.py``, the connection that the parts of the state share.
``schema.py`` has the tables and their migrations, ``lock.py`` keeps a second
writer out. This folder imports no other folder of ``state/``.
"""
