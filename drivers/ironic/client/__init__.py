# SPDX-License-Identifier: Apache-2.0
"""Ironic's API, as this driver uses it: connection and requests.

Begin with ``api.py``, which has the requests. ``endpoint.py`` finds the address
and the account, ``connection.py`` makes the ironicclient session, and
``error_mapping.py`` turns failures into driver errors. ``nodes/answers.py`` checks
the bodies. The folder imports ``nodes/`` and the driver's options.
"""
