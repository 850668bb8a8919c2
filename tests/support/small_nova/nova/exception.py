# SPDX-License-Identifier: Apache-2.0
"""Some of nova's exceptions."""


class NovaException(Exception):
    """The root of them."""


class ReshapeNeeded(NovaException):
    """A driver wants the allocations."""


class ReshapeFailed(NovaException):
    """A driver cannot move them."""
