# SPDX-License-Identifier: Apache-2.0
"""Values of the fixtures and of the driver contract, and their differences.

Pure: it reaches no network, configuration, log or clock; ``plain.py`` reads
the file that it is given. Begin with ``plain.py``: providers as plain data.
``differences.py`` compares, ``seam.py`` has the bad answers of a source, and
``verdict.py`` the ways in which the check of a rule can end early.

It may import ``../../tree/``, and the agent's errors.
"""
