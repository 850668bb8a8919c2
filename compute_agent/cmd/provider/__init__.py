# SPDX-License-Identifier: Apache-2.0
"""The commands ``resource provider …``: list, create, delete, adopt, rename, and contents.

Begin with ``provider.py``. ``provider_contents.py`` has the verbs for traits,
inventories and aggregates, and ``provider_change.py`` is the base of the
commands that take items from standard input, too.
``report_client/api/`` sends the requests; the rules for adoption and renaming
are in ``compute_agent/ownership/`` and ``compute_agent/identity/``.
"""
