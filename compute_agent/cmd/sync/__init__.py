# SPDX-License-Identifier: Apache-2.0
"""The command ``sync``: one cycle, or an approval for a running daemon.

Begin with ``sync.py``. ``approving.py`` is ``sync`` beside a daemon. The
options that it shares with ``plan`` are in ``plan/pruning.py``.
"""
