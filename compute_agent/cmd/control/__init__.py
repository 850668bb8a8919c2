# SPDX-License-Identifier: Apache-2.0
"""The control of a running daemon: its socket, and the commands that use it.

Begin with ``protocol.py``: the lines that a command and the daemon exchange.
The daemon's side is ``daemon.py``, which ``run`` opens: ``server.py`` serves
the socket, ``answers.py`` answers from the memory of ``node_states.py`` and
``cycle_requests.py``. The commands' side is ``client.py``; ``status.py`` and
``approve.py`` are commands, and ``sync`` asks for cycles. ``address.py`` is
the socket's path for both. The package may import every other one of ``cmd``
except ``run``, ``sync`` and the commands beside them.
"""
