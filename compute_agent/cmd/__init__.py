# SPDX-License-Identifier: Apache-2.0
"""The command line: the only place that builds sessions, loads drivers and wires objects.

Begin with ``app/main.py`` (options, dispatch) and ``wiring/agent.py`` (builds
an agent). There is one module per command; a command with several verbs has a
folder: ``candidates/``, ``provider/``, ``state/``, ``trait/``. A command parses
words, asks for confirmation and prints; the rules are in other folders. It may
import anything of the agent and of the report client; nothing imports it.
"""
