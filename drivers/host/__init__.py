# SPDX-License-Identifier: Apache-2.0
"""The host driver: facts of a Linux host, beside the driver of its guests.

Begin with ``driver.py``. ``facts/`` reads the facts, and ``events.py`` hears
that devices changed. ``rules/`` applies rules to facts. It may import the
modules of ``compute_agent`` that ``docs/drivers.md`` lists, and what the
drivers of hosts share.
"""
