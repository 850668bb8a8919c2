# SPDX-License-Identifier: Apache-2.0
"""The control of a running daemon: its socket, and the commands that use it.

Begin with ``protocol.py``: the lines that a command and the daemon exchange.
The daemon's side is ``daemon.py``, which ``run`` opens: ``server.py`` serves
the socket, ``answers.py`` answers from the memory of ``node_states.py`` and
``cycle_requests.py``; ``between_cycles.py`` changes the record. The holder of a
share also answers requests that other machines leave in the shared database
(``requests_of_share.py``). The commands' side is ``client.py``; ``status.py`` and
``approve.py`` are commands. ``sync`` and ``approve`` have cycles run by
``asking.py``; ``without_daemon.py`` approves where no daemon answers.
``address.py`` is the socket's path for both sides. The package may import every
other one of ``cmd`` except ``run``, ``sync`` and the commands beside them.
"""
