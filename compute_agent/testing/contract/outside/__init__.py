# SPDX-License-Identifier: Apache-2.0
"""The world outside of a driver: its sources, and their faults.

Begin with ``world.py``, which a driver's author writes. A ``seam.py`` is one
call of the driver's on a source; ``watch.py`` counts these calls and makes them
fail, and ``callers.py`` tells them from the calls of the agent. It imports the
agent's errors and the driver contract, and no rule.
"""
