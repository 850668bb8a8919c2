# SPDX-License-Identifier: Apache-2.0
"""The commands ``provider …``: list, create, delete, adopt, rename, and contents.

Begin with ``provider.py``; each noun has its module. The requests are made by
``report_client/api/``.
"""
