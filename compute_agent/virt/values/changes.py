# SPDX-License-Identifier: Apache-2.0
"""The nodes that may have changed, as a driver tells them between two lists.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
import typing
from collections.abc import Collection


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The answer of ``ComputeDriver.changes``.

    :ivar names: the nodes that may have changed, by the names of
        ``get_available_nodes``; one that is not in the last list is new
    :ivar since: handed to the driver with the next call; the agent does not
        look at it
    """

    names: Collection[str]
    since: typing.Any
