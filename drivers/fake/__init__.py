# SPDX-License-Identifier: Apache-2.0
"""The fake driver: describes the nodes and trees that are in a YAML file.

Begin with ``driver.py``. These are pure: ``schema`` (the shape of the file),
``tree_file`` (its content as values), ``describe`` (edits the tree) and
``moving`` (moves allocations). It may import the modules of ``compute_agent``
that ``docs/drivers.md`` lists.
"""
