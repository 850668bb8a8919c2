# SPDX-License-Identifier: Apache-2.0
"""Read and change placement's providers and traits, for people and programs.

Begin with ``providers.py`` and ``traits.py``. Every change of a provider's
contents is an optimistic update (``provider_contents.py``): read, merge, write
under the generation that was read, and start again on a conflict.
``content_kinds.py`` is the table of the kinds of contents, and ``values/`` has
the conditions of queries. It may import ``http/`` and
``compute_agent/plan/operations/``.
"""
