# SPDX-License-Identifier: Apache-2.0
"""The commands ``trait …``: the traits that placement knows.

Begin with ``trait.py``. The requests are made by ``report_client/api/traits.py``.
"""
