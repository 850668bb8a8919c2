# SPDX-License-Identifier: Apache-2.0
"""The values that the agent and the report client exchange.

Begin with ``observation.py`` (a node's providers in placement) and ``plan.py``
(the wanted providers, the plan, its outcome). ``change.py`` has the changes of
an operation, ``removal.py`` the causes of removals, ``intents.py`` the writes
that are not confirmed yet, and ``allocations.py`` the consumers' allocations.
``operations/`` has the operations of a plan.
Pure; it may import ``tree/`` only.
"""
