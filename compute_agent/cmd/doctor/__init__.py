# SPDX-License-Identifier: Apache-2.0
"""``compute-agent doctor``: whether an agent can do its work here, line by line.

Begin with ``doctor.py``, the command. A module has the checks of one subject,
each a small function that returns a ``Finding`` (``finding.py``), bounded in
time. Nothing is written, neither to placement nor to the state directory.
"""
