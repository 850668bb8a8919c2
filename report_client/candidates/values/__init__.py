# SPDX-License-Identifier: Apache-2.0
"""A request for candidates, placement's answer, and the facts about a tree.

Pure: no I/O, configuration, logging or clock. ``query.py`` is the request, which
``flavor.py`` makes from a flavor and ``requirements.py`` splits. ``answer.py`` is
placement's answer, ``neighbourhood.py`` has the tree and what shares with it, and
``wording.py`` says what it lacks. The folder may import ``api/values/``,
``http/messages/`` and, from the agent, ``tree/``, ``extra_specs.py`` and errors.
"""
