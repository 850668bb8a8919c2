# SPDX-License-Identifier: Apache-2.0
"""A placement in plain Python, a hundred times as quick as the real one.

It is for the thousands of random sequences of ``tests/stateful`` and for
nothing else: every other test asks the real placement. It knows the requests
that the agents and ``others.py`` send, at the microversions that they use, and
raises ``Unlike`` for any other. That it answers as the real one does is shown
by ``tests/functional/testing/test_placement_double.py``, and again in each
long run, where a part of the sequences asks both.

Begin with ``service.py``, then ``routes.py``. ``contents.py`` is what it holds;
``providers.py``, ``parts.py`` and ``allocations.py`` are the writes. The checks
of request bodies are placement's own.
"""
