# SPDX-License-Identifier: Apache-2.0
"""A node as the state database remembers it.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses

from ..virt import driver as virt


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownNode:
    """A node that the driver has, or once had.

    :ivar answer: what the driver last said of it, None while it is listed
    :ivar asked_at: when it said that, in seconds since the epoch
    """

    name: str
    title: str = ''
    answer: virt.Existence | None = None
    asked_at: float = 0.0
