# SPDX-License-Identifier: Apache-2.0
"""``compute-agent audit``: read a whole cloud, show what is wrong, mend it.

Begin with ``audit.py``, which also asks Ironic. ``gathering.py`` reads
placement, ``nova_answers.py`` nova, and ``mending.py`` writes. The judgement
is in ``compute_agent/audit/``.
"""
