# SPDX-License-Identifier: Apache-2.0
"""The helper of privileged calls."""

helpers: list[list[str]] = []


def init(root_helper: list[str]) -> None:
    """Note it."""
    helpers.append(root_helper)
