# SPDX-License-Identifier: Apache-2.0
"""The values that the agent and the report client hand each other.

Begin with ``observation.py`` (what placement holds of a node) and ``plan.py``
(what the agent wants, the plan, its outcome). ``change.py`` and ``removal.py``
say what an operation changes and why a name goes; ``intents.py`` what was sent
and not yet confirmed; ``allocations.py`` what consumers use. Pure; it may import
``tree/`` only.
"""
