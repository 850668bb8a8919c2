# SPDX-License-Identifier: Apache-2.0
"""Read and change placement's providers and traits, for people and programs.

Begin with ``providers.py`` and ``traits.py``. Every change is an optimistic
update (``optimistic_update.py``): read, merge, write under the generation that
was read, and start again on a conflict. It may import ``http/`` and
``compute_agent/plan/operations/``.
"""
