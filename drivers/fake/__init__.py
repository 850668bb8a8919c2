# SPDX-License-Identifier: Apache-2.0
"""The fake driver: describes the nodes and trees that are in a YAML file.

Begin with ``driver.py``. ``tree_file/moving.py`` moves allocations, and is
pure. The file as values is in ``tree_file/``. The folder may import the
modules of ``compute_agent`` that ``docs/drivers.md`` lists.
"""
