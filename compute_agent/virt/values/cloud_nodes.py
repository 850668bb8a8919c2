# SPDX-License-Identifier: Apache-2.0
"""All nodes that the service behind a driver has, for ``audit``.

Pure: no I/O, configuration, logging or clock. This part of the contract is
optional. A driver may describe only some of the nodes of its service; this
method returns all of them.
"""

import dataclasses
import typing
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CloudNode:
    """A node of a service that has many.

    :ivar uuid: as placement spells it
    :ivar instance_uuid: the instance that has the node, or None
    """

    uuid: str
    instance_uuid: str | None


@typing.runtime_checkable
class CloudNodes(typing.Protocol):
    """The method of a driver whose service has the nodes of a whole cloud."""

    def cloud_nodes(self) -> Sequence[CloudNode]:
        """Return all nodes of the service, whoever describes them.

        :raises errors.AgentError: the listing is incomplete
        """
        ...
