# SPDX-License-Identifier: Apache-2.0
"""The command ``candidates``: a flavor or a request, the answer, and why not.

Begin with ``candidates.py``. The modules ``*_options.py`` and ``flavor_file.py``
read the request, ``candidates_view.py`` prints the answer. The questions to
placement are asked by ``report_client/candidates/``.
"""
