# SPDX-License-Identifier: Apache-2.0
"""The state database: what must survive a restart.

Begin with ``state.py``. ``records.py``, ``intents.py`` and ``snapshot.py`` each
own some tables of ``schema.py``; ``handover.py`` moves the record of a node
between agents. It may import ``tree/``, ``ownership/`` and ``virt/``.
"""
