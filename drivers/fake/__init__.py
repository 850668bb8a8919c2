# SPDX-License-Identifier: Apache-2.0
"""The fake driver: describes the nodes and trees that are in a YAML file.

Begin with ``driver.py``. ``tree/``, the file as values and the edits that follow
from it, is pure. It may import the modules of ``compute_agent`` that
``docs/drivers.md`` lists.
"""
