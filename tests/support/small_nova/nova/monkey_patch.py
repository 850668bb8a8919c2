# SPDX-License-Identifier: Apache-2.0
"""Notes which threads nova was told to use."""

chosen: list[str] = []


def patch(backend: str) -> None:
    """Note it."""
    chosen.append(backend)
