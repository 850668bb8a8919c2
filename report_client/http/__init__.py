# SPDX-License-Identifier: Apache-2.0
"""The only folder that speaks HTTP to placement.

Begin with ``placement.py``, which sends a request and returns its answer.
``no_answer.py`` says what to change if no answer came. ``messages/`` has
requests and answers as values. It may import the agent's ``plan/`` and
``transport/`` only.
"""
