# SPDX-License-Identifier: Apache-2.0
"""Tell a server that is not there from one that is slow.

A try that finds no server costs the service nothing, so the agent may soon try
again. A server that answers late, or with 429, may be overloaded by such
tries. It sends nothing; placement's and Ironic's error mappings call it.
"""

from keystoneauth1 import exceptions as ksa_exceptions

# A proxy sends them if no server is behind it.
STATUSES = frozenset({502, 503})


def is_meant(exc: Exception) -> bool:
    """Return True if keystoneauth's exception says that no server is there."""
    if isinstance(exc, ksa_exceptions.HttpError):
        return exc.http_status in STATUSES
    return isinstance(exc, ksa_exceptions.ConnectFailure)
