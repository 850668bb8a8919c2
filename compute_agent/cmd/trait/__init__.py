# SPDX-License-Identifier: Apache-2.0
"""The commands ``trait …``: the traits that placement knows.

Begin with ``trait.py``. ``report_client/api/traits.py`` sends the
requests.
"""
