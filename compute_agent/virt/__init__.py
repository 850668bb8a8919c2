# SPDX-License-Identifier: Apache-2.0
"""The driver contract, its optional parts, and the loader that checks it.

Begin with ``driver.py``: the class that every driver subclasses. ``values/``
has optional parts of the contract; driver authors import these modules, too
(``docs/drivers.md``). ``loader.py`` finds the installed drivers, and
``drivers.py`` has those of one agent. It may import ``tree/``, ``errors.py``,
``extra_specs.py``, oslo.config and stevedore.
"""
