# SPDX-License-Identifier: Apache-2.0
"""Nova's compute drivers, unchanged: ``compute_driver = nova:MODULE.CLASS``.

Begin with ``driver.py``. ``target.py`` finds the class, and ``process.py`` prepares
nova's global state and answers what its objects ask the conductor.
``tracker.py`` makes the additions of nova's resource tracker, and
``novas_tree.py`` is the tree that nova's code edits. Nova is imported inside
functions: it may be missing. This folder may import the modules of ``compute_agent`` that
``docs/drivers.md`` lists.
"""
