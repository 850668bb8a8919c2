# SPDX-License-Identifier: Apache-2.0
"""The values that the state database keeps, and their forms as text.

Pure: no I/O, configuration, logging or clock. Begin with ``node_record.py``,
the record of a node that agents hand over. ``history_rows.py`` turns entries
of the history into text and back, ``differences.py`` makes the entries about
other writers, and ``cache.py`` has the values that were read already. The
folder imports no other folder of ``state/``.
"""
