# SPDX-License-Identifier: Apache-2.0
"""The commands ``allocation candidate …``, for a flavor or a request.

Begin with ``candidates.py``. The modules ``*_options.py`` and ``flavor_file.py``
read the request; ``report_client/candidates/`` sends it to placement.
"""
