# SPDX-License-Identifier: Apache-2.0
"""The host driver: facts of a Linux host, beside the driver of its guests.

Begin with ``driver.py``. ``reading/`` reads the facts, ``events.py`` hears that
devices changed, and ``rule_files.py`` reads rules and keeps those in force. These
are not pure; ``facts/``, the facts as values, and ``rules/``, which applies rules
to facts, are. It may import the modules of ``compute_agent`` that
``docs/drivers.md`` lists, and what the drivers of hosts share.
"""
