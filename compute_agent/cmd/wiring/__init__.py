# SPDX-License-Identifier: Apache-2.0
"""The composition root: options in, connected objects out.

Begin with ``agent.py``, which opens an agent; ``building.py`` connects its
objects. ``agent_settings.py`` turns the options into a value,
``placement.py`` makes the connection to placement, and
``named_providers.py`` finds providers by the words of people.
"""
