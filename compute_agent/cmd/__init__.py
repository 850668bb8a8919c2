# SPDX-License-Identifier: Apache-2.0
"""The command line: the only place that builds sessions, loads drivers and wires objects.

Begin with ``app/main.py`` (options, dispatch) and ``wiring/agent.py`` (how an
agent is built). One module per command; a command with several verbs has a
folder: ``candidates/``, ``provider/``, ``state/``, ``trait/``. It may import
anything of the agent and of the report client; nothing imports it.
"""
