# SPDX-License-Identifier: Apache-2.0
"""Demos on a real local Ironic; a part of the checkout, not of the wheel.

Begin with ``ironic_demo.py``, the program behind ``make demo-ironic``;
``fleet_demo.py`` is behind ``make demo-fleet``.
``local_ironic.py`` starts and stops the Ironic, which the tests use too, and
``ironic_operator.py`` is a plain client for its nodes. Both run the agent
through its command line (``compute_agent/cmd/app/main.py``).
"""
