# SPDX-License-Identifier: Apache-2.0
"""Nova's drivers for hosts and nodes that compute-agent reports to placement.

nova-compute loads the class that ``[DEFAULT] compute_driver`` names in the
package ``nova.virt``: ``compute_agent.LibvirtDriver`` or
``compute_agent.IronicDriver``. These classes do all that nova's own ones do,
except for one method: they describe no resources. So nova-compute starts guests
as before, and reports only what it adds without asking the driver: the
capabilities of the driver's class, ``COMPUTE_NODE``, ``OWNER_NOVA``,
``COMPUTE_STATUS_DISABLED``, its PCI devices if ``[pci] report_in_placement`` is
set, and its own provider-config files.

Nothing else of nova is changed, and nothing of compute-agent is imported.
"""

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Optional

from nova.virt.ironic import driver as ironic
from nova.virt.libvirt import driver as libvirt
from oslo_log import log

LOG = log.getLogger(__name__)

# The method of nova that is overridden, in nova 29 (2024.1) to 34 (2026.2).
_ARGUMENTS = ['provider_tree', 'nodename', 'allocations']


class _ReportedByAgent:
    """A driver of nova's that describes no resources.

    :raises ImportError: nova calls the overridden method in another way; nova
        logs that and does not start
    """

    def __init__(self, virtapi: Any, read_only: bool = False) -> None:  # noqa: FBT001, FBT002 (nova's signature)
        _check(super().update_provider_tree)
        super().__init__(virtapi, read_only)

    def init_host(self, host: str) -> None:
        """Start as nova's driver does, and say who reports."""
        super().init_host(host)
        LOG.info(
            'compute-agent reports the resources of %s to placement; '
            'nova-compute reports its capabilities, because [DEFAULT] '
            'compute_driver is compute_agent.%s',
            host,
            type(self).__name__,
        )

    def update_provider_tree(
        self,
        provider_tree: Any,
        nodename: str,
        allocations: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Leave the tree as placement has it."""


class LibvirtDriver(_ReportedByAgent, libvirt.LibvirtDriver):
    """Nova's libvirt driver, without its resources."""

    def update_provider_tree(
        self,
        provider_tree: Any,
        nodename: str,
        allocations: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Keep the tree: nova looks there for a guest's mediated devices."""
        self.provider_tree = copy.deepcopy(provider_tree)


class IronicDriver(_ReportedByAgent, ironic.IronicDriver):
    """Nova's Ironic driver, without its resources."""


def _check(method: Callable[..., Any]) -> None:
    found = list(inspect.signature(method).parameters)
    if found != _ARGUMENTS:
        raise ImportError(
            'this release of nova has '
            f'{method.__qualname__}({", ".join(found)}), and compute-agent-nova '
            f'knows it with ({", ".join(_ARGUMENTS)}): upgrade '
            'compute-agent-nova, or set [DEFAULT] compute_driver to '
            "nova's own driver and stop compute-agent on this host"
        )
