# SPDX-License-Identifier: Apache-2.0
"""What runs over minutes share: agents as processes, and other writers.

``daemon.py`` has an agent that is started, killed and read from its log,
``writers.py`` somebody else who edits providers at the same time. The runs of
``tests/chaos`` and ``tests/churn`` use both.
"""
