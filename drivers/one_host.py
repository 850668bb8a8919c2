# SPDX-License-Identifier: Apache-2.0
"""The host that the agent runs on: its names, and the base of its drivers.

It does I/O. The drivers of hosts name their node as nova-compute does.
"""

import logging
import socket
from collections.abc import Mapping, Sequence

from compute_agent import errors
from compute_agent.virt import driver

from .libvirtd import hypervisor

LOG = logging.getLogger(__name__)

LOCALHOST = 'localhost'


def canonical() -> str:
    """Return this host's name as libvirt does: with its domain, if any.

    A short name is resolved. A name that cannot be resolved, or resolves to
    localhost, stays short.
    """
    name = socket.gethostname()
    if '.' in name or name.startswith(LOCALHOST):
        return name
    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_CANONNAME)
    except OSError:
        return name
    canonical = found[0][3]
    return name if canonical.startswith(LOCALHOST) else canonical or name


class HostName:
    """The names that a host has in nova and in libvirt.

    :param libvirt: the libvirt of the host
    :param configured: ``[DEFAULT] host``; may be empty
    :param own: the host's own name
    """

    def __init__(
        self, libvirt: hypervisor.Hypervisor, configured: str, own: str
    ) -> None:
        self.node = configured or own
        self._libvirt = libvirt
        self._last = own
        self._is_told = False

    def of_hypervisor(self) -> str:
        """Return the name that libvirt gives the host, or gave it last.

        nova-compute names its node so. Before libvirt's first answer it is the
        host's own name.
        """
        try:
            self._last = self._libvirt.hostname()
            self._is_told = True
        except hypervisor.Unanswered as exc:
            # If libvirt never answers here, the host's own name is the name.
            self._is_told |= isinstance(exc, hypervisor.Unsupported)
            LOG.debug('%s', exc)
        return self._last

    def by_nova(self) -> dict[str, str]:
        """Return the node's name with nova's; empty until libvirt told it."""
        name = self.of_hypervisor()
        return {self.node: name if self._is_told else ''}

    def is_of(self, nodename: str) -> bool:
        """Return True if the node is this host, by either name."""
        return nodename in {self.node, self.of_hypervisor()}


class OneHostDriver(driver.ComputeDriver):
    """A driver with one node, which has the name that nova-compute gives it.

    :param name: the names of the host
    """

    def __init__(self, name: HostName) -> None:
        self._name = name

    def get_available_nodes(self) -> Sequence[str]:
        """Return the name of the one host."""
        return [self._name.node]

    def get_hypervisor_hostnames(self) -> Mapping[str, str]:
        """Return the name that libvirt, and so nova-compute, gives the host."""
        return self._name.by_nova()

    def node_exists(self, nodename: str) -> driver.Existence:
        """Return YES for both names of this host."""
        if self._name.is_of(nodename):
            return driver.Existence.YES
        return super().node_exists(nodename)

    def _check(self, nodename: str) -> None:
        if not self._name.is_of(nodename):
            raise errors.DriverError(
                f'this host is {self._name.node}, not {nodename}'
            )
