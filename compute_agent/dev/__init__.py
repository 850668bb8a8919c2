# SPDX-License-Identifier: Apache-2.0
"""The embedded placement: a real placement service in this process.

Begin with ``embedded_placement.py``. It is for development, demos and tests,
and needs the ``embedded`` extra. It may import ``errors.py`` of the agent and
nothing else of it; only ``cmd/`` imports it.
"""
