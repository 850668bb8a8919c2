# SPDX-License-Identifier: Apache-2.0
"""Contexts of requests."""


def get_admin_context() -> object:
    """Return the administrator's."""
    return object()
