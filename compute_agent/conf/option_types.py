# SPDX-License-Identifier: Apache-2.0
"""Types of options that oslo.config does not have.

Each returns the value, a text or a number, or raises a ``ValueError`` that
says what to write instead. ``compute_agent.py`` has the options of these types.
"""

import math
from typing import Any

from oslo_config import types

from ..monitoring import address
from ..ownership import policy

# Requests per second; the least keeps a wait within the range of timers.
LEAST_RATE = 0.01
LARGEST_RATE = 10_000


class Mask(types.String):
    """A pattern of trait names, with the wildcards * and ?."""

    def __call__(self, value: Any) -> str:
        """Return the mask."""
        return policy.check_mask(super().__call__(value))


class Bind(types.String):
    """An IP address with a port, or the path of a unix socket."""

    def __call__(self, value: Any) -> str:
        """Return the address as it is written."""
        text: str = super().__call__(value)
        return text and str(address.parse(text))


class TextFile(types.String):
    """The absolute path of a file that node_exporter would read."""

    def __call__(self, value: Any) -> str:
        """Return the path."""
        path: str = super().__call__(value)
        if path and not (path.startswith('/') and path.endswith('.prom')):
            raise ValueError(
                f'{path} is no absolute path that ends in ".prom", and '
                'node_exporter reads no other file'
            )
        return path


class Rate(types.Float):
    """A number of requests per second; 0 means no limit."""

    def __init__(self) -> None:
        super().__init__(min=0.0, max=LARGEST_RATE)

    def __call__(self, value: Any) -> float | None:
        """Return the number, or None for an empty text."""
        rate: float | None = super().__call__(value)
        if rate is not None and not (
            rate == 0 or LEAST_RATE <= rate < math.inf
        ):
            raise ValueError(f'Should be 0, or {LEAST_RATE} at least')
        return rate
