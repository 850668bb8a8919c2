# SPDX-License-Identifier: Apache-2.0
"""The description of a node by its sources; nothing is written to placement.

Begin with ``descriptions.py``: the drivers, the operators' files and the agent
edit a copy of the observed tree. The drivers take turns in ``driver_turns.py``,
and ``describe.py`` speaks to one. Of ``cycle/``, the folder imports
``node_list.py`` and ``values/``.
"""
