# SPDX-License-Identifier: Apache-2.0
"""How an agent is put together: options in, connected objects out.

Begin with ``agent.py``. ``placement.py`` makes the connection to placement,
``throttled_session.py`` limits its requests per second.
"""
