# SPDX-License-Identifier: Apache-2.0
"""The command ``candidates``: allocation candidates for a flavor or a request.

Begin with ``candidates.py``. The modules ``*_options.py`` and ``flavor_file.py``
read the request; ``report_client/candidates/`` sends it to placement.
"""
