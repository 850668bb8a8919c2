# SPDX-License-Identifier: Apache-2.0
"""Calls of drivers to nova-compute."""


class VirtAPI:
    """None of them."""
