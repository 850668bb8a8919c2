# SPDX-License-Identifier: Apache-2.0
"""Placement's answer with candidates, and the facts about a tree, as values.

Pure: no I/O, configuration, logging or clock. ``requirements.py`` splits a
request, ``neighbourhood.py`` has the tree and what shares with it, and
``wording.py`` says what it lacks. It may import ``query.py``, ``api/values/``
and the agent's ``tree/`` only.
"""
