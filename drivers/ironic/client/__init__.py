# SPDX-License-Identifier: Apache-2.0
"""Ironic's API, as this driver uses it: connection, requests, checked answers.

Begin with ``api.py``, which has the requests. ``connection.py`` makes the
ironicclient session, ``answers.py`` checks the bodies, ``error_mapping.py``
turns failures into driver errors. It imports nothing of the driver above it.
"""
