# SPDX-License-Identifier: Apache-2.0
"""The command line: the only place that builds sessions, loads drivers and wires objects.

Begin with ``app/main.py`` (options, dispatch) and ``wiring/`` (opens and
builds an agent). Each command has a module, or a folder with its views and
options. A command parses words, asks for confirmation and prints; the rules
are in other folders. It may import anything of the agent and of the report
client; only ``scheduler_report_client.py``, the agent for other programs,
imports it.
"""
